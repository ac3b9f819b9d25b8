/** The configuration that each agent needs in a home of its own so that it talks to a model on loopback only. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { MODEL } from "../goals/goal-replies.ts";

export interface Home {
  /** Path below HOME and its content. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

/** Of models that have a price in an agent's own configuration: dollars for a million tokens. */
const COST = { input: 3, output: 15 };
const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

export function writeHome(home: string, { files }: Home): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
}

export function claudeHome(url: string): Home {
  return {
    files: { ".claude.json": json({ hasCompletedOnboarding: true }) },
    env: {
      ANTHROPIC_API_KEY: "sk-ant-dummy-test-key",
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_MODEL: MODEL,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
    },
  };
}

export function codexHome(url: string): Home {
  const config = `model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

# otherwise its sandbox makes folders of its own in /tmp, and an empty .git there is a project to everybody below
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[features]
plugins = false

[analytics]
enabled = false
`;
  return {
    files: { ".codex/config.toml": config },
    env: { SCRIPTED_KEY: "dummy", OPENAI_API_KEY: "sk-dummy", NO_BROWSER: "1" },
  };
}

export function geminiHome(url: string): Home {
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 1 },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  };
  return {
    files: { ".gemini/settings.json": json(settings) },
    env: {
      GEMINI_API_KEY: "dummy",
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_MODEL: "gemini-2.5-flash",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_CLI_NO_RELAUNCH: "true",
    },
  };
}

export function opencodeHome(url: string): Home {
  const config = {
    autoupdate: false,
    share: "disabled",
    model: "scripted/scripted",
    small_model: "scripted/scripted",
    provider: {
      scripted: {
        npm: "@ai-sdk/openai-compatible",
        name: "Scripted",
        options: { baseURL: `${url}/v1`, apiKey: "dummy" },
        models: {
          scripted: {
            name: "Scripted",
            tool_call: true,
            limit: { context: 128_000, output: 4_096 },
            cost: COST,
          },
        },
      },
    },
    permission: { bash: "ask", edit: "ask" },
  };
  return {
    files: { ".config/opencode/opencode.json": json(config) },
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    },
  };
}

export function copilotHome(url: string): Home {
  return {
    files: {},
    env: {
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: "dummy",
      COPILOT_MODEL: "gpt-4.1",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
    },
  };
}

export function qwenHome(url: string): Home {
  const settings = {
    security: { auth: { selectedType: "openai" } },
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
    model: { name: "scripted", generationConfig: { maxRetries: 0 } },
    ui: { enableFollowupSuggestions: false },
    memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
    $version: 4,
  };
  return {
    files: { ".qwen/settings.json": json(settings) },
    env: { OPENAI_API_KEY: "dummy", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "scripted" },
  };
}

export function piHome(url: string): Home {
  const models = {
    providers: {
      scripted: {
        baseUrl: `${url}/v1`,
        api: "openai-completions",
        apiKey: "dummy",
        compat: { supportsDeveloperRole: false, supportsReasoningEffort: false },
        models: [
          {
            id: "scripted",
            name: "Scripted",
            contextWindow: 128_000,
            maxTokens: 4_096,
            input: ["text"],
            reasoning: false,
            cost: { ...COST, cacheRead: 0.3, cacheWrite: 3.75 },
          },
        ],
      },
    },
  };
  const settings = {
    defaultProvider: "scripted",
    defaultModel: "scripted",
    retry: { enabled: false },
  };
  return {
    files: { ".pi/agent/models.json": json(models), ".pi/agent/settings.json": json(settings) },
    env: { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
  };
}
