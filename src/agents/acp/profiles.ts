/** What is different from agent to agent, as data. Measured; the versions are those of test/clients. */
import { homedir } from "node:os";
import { join } from "node:path";

/** What `usage` of a finished prompt means, or where else tokens are told. */
export type TokenSource =
  /** Of the turn. */
  | "turn"
  /** Of the last request to the model only: for a turn of several nothing is known. */
  | "last-step"
  /** Of the conversation so far, since the process has it open. */
  | "cumulative"
  /** `_meta.quota.token_count` of the result. */
  | "quota"
  /** `_meta.usage` of message chunks, one for each request. */
  | "chunks";

export interface AcpProfile {
  readonly name: string;
  /** After the program's own name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Modes of a session: for a turn that works, and for one that only looks. Left out: its own is right for both. */
  readonly modes?: { readonly work: string; readonly look: string };
  readonly tokens: TokenSource;
  /**
   * `usage_update` tells what a conversation has cost so far: since it began, or since this process has it. Left out
   * by an agent that could: not known.
   */
  readonly cost: "conversation" | "process" | "none";
  /** After a denied permission: the model is told, or the turn ends there without a word of it. */
  readonly afterDenial: "told" | "ends";
  /** A turn without usage never reached a model, whatever its stop reason says. */
  readonly usageProves: boolean;
  /** The client writes its own errors as a message of the agent's that begins so. */
  readonly errorMark?: string;
  /** Where a failed request has its HTTP status; `details`: there, or in the code. */
  readonly status: "code" | "details" | "none";
  /** Where the events of a session are, one a line: an error that is told in words is there with its kind. */
  readonly eventsFile?: (sessionId: string, env: NodeJS.ProcessEnv) => string;
  /** Arguments that make the program print a session as JSON, where an error keeps its status. */
  readonly exportArgs?: (sessionId: string) => readonly string[];
  /** The title of a request to run something is the command itself. */
  readonly titleIsCommand: boolean;
  /** Takes the engine's tools over HTTP. */
  readonly httpTools: boolean;
  /** Leaves files in its TMPDIR at each start: it gets one of its own, which goes with it. */
  readonly ownTmpDir: boolean;
}

const PLAIN: Omit<AcpProfile, "name"> = {
  args: [],
  env: {},
  tokens: "turn",
  cost: "conversation",
  afterDenial: "told",
  usageProves: false,
  status: "none",
  titleIsCommand: false,
  httpTools: true,
  ownTmpDir: false,
};

const PROFILES = {
  claude: {
    ...PLAIN,
    name: "claude",
    env: {
      // otherwise the tools of a server are found only by a search
      ENABLE_TOOL_SEARCH: "false",
      // otherwise the agent pays for a suggestion of the next prompt after each turn
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false",
    },
    modes: { work: "default", look: "default" },
    cost: "process",
  },
  codex: {
    ...PLAIN,
    name: "codex",
    env: { NO_BROWSER: "1", CODEX_ACP_PROMPT_SUGGESTIONS: "false" },
    // its default asks a model instead of a person
    modes: { work: "workspace-write", look: "read-only" },
    cost: "none",
    usageProves: true,
  },
  gemini: {
    ...PLAIN,
    name: "gemini",
    args: ["--acp"],
    env: { GEMINI_CLI_NO_RELAUNCH: "true" },
    modes: { work: "default", look: "default" },
    tokens: "quota",
    cost: "none",
    status: "code",
    titleIsCommand: true,
  },
  opencode: {
    ...PLAIN,
    name: "opencode",
    args: ["acp"],
    tokens: "last-step",
    afterDenial: "ends",
    exportArgs: (sessionId) => ["export", sessionId],
    // 5.6 MB at each start
    ownTmpDir: true,
  },
  copilot: {
    ...PLAIN,
    name: "copilot",
    args: ["--acp"],
    tokens: "cumulative",
    cost: "none",
    afterDenial: "ends",
    usageProves: true,
    errorMark: "Error: ",
    eventsFile: (sessionId, { COPILOT_HOME, HOME = homedir() }) =>
      join(COPILOT_HOME || join(HOME, ".copilot"), "session-state", sessionId, "events.jsonl"),
  },
  qwen: {
    ...PLAIN,
    name: "qwen",
    args: ["--acp"],
    modes: { work: "default", look: "default" },
    tokens: "chunks",
    cost: "none",
    afterDenial: "ends",
    status: "details",
  },
  demo: { ...PLAIN, name: "demo" },
} as const satisfies Record<string, AcpProfile>;

export type AcpProfileName = keyof typeof PROFILES;

export function profileOf(name: AcpProfileName): AcpProfile {
  return PROFILES[name];
}

/** For any agent that speaks the protocol: nothing is taken for granted. `name`: as people know it. */
export function plainProfile(name: string): AcpProfile {
  return { ...PLAIN, name };
}
