/** Where each client looks for hooks and commands, and their form. Data only; reads and writes nothing. */
import { join } from "node:path";
import { isFields } from "../../conversation/fields.ts";
import { absolutePath, homeFolder } from "../../conversation/install/data-folder.ts";
import type { ClientEvent, ClientName } from "../clients/client.ts";
import type { HookItems } from "./hook-lists.ts";
import { isOwnCommand, plainCommand } from "./shell.ts";
import { renderCursorCommand, renderGeminiCommand, renderOpencodeCommand, renderSkill } from "./texts.ts";

export type InstallScope = "user" | "project";

interface Target {
  /** The client's folder, of the person or of a project. */
  readonly folder: (scope: InstallScope, project: string, env: NodeJS.ProcessEnv) => string;
  /** The file with the hooks, inside the folder. Left out: the client uses a plugin. */
  readonly hooks?: HooksTarget;
  readonly plugin?: string;
  /** The file of the command that a person types. */
  readonly command: { readonly path: string; readonly text: string };
  /** The next steps for the person. */
  readonly afterwards: readonly string[];
}

interface HooksTarget {
  readonly path: string;
  /** The whole file is ours. Left out: other programs use it too. */
  readonly isOwn?: true;
  readonly header: Readonly<Record<string, unknown>>;
  readonly items: (command: (event: ClientEvent) => string) => HookItems;
  /** The client's name of the stop event. */
  readonly stop: string;
}

/** A hook waits while checks run. */
const LONG_S = 7200;
const SHORT_S = 30;

export const TARGETS: Readonly<Record<ClientName, Target>> = {
  codex: {
    folder: folderNamed(".codex", "CODEX_HOME"),
    hooks: {
      path: "hooks.json",
      header: {},
      stop: "Stop",
      items: (command) =>
        grouped({
          Stop: { ...run(command("stop"), LONG_S), statusMessage: "Loopwright: checks run" },
          UserPromptSubmit: { ...run(command("prompt"), LONG_S), statusMessage: "Loopwright" },
          SessionStart: run(command("start"), SHORT_S),
          // the client allows at most 3 seconds
          Interrupt: run(command("interrupt"), 3),
          SessionEnd: run(command("end"), SHORT_S),
        }),
    },
    command: { path: "skills/loop/SKILL.md", text: renderSkill("loop") },
    afterwards: ["Codex runs only hooks that you trust: start codex and type /hooks."],
  },
  gemini: {
    folder: folderNamed(".gemini"),
    hooks: {
      path: "settings.json",
      header: {},
      stop: "AfterAgent",
      // in milliseconds
      items: (command) =>
        grouped({
          AfterAgent: { name: "loopwright-stop", ...run(command("stop"), LONG_S * 1000) },
          BeforeAgent: { name: "loopwright-prompt", ...run(command("prompt"), LONG_S * 1000) },
          SessionStart: { name: "loopwright-start", ...run(command("start"), SHORT_S * 1000) },
          SessionEnd: { name: "loopwright-end", ...run(command("end"), SHORT_S * 1000) },
        }),
    },
    command: { path: "commands/loop.toml", text: renderGeminiCommand() },
    afterwards: ["Hooks of a project run only in a folder that Gemini CLI trusts."],
  },
  cursor: {
    folder: folderNamed(".cursor"),
    hooks: {
      path: "hooks.json",
      header: { version: 1 },
      stop: "stop",
      items: (command) => ({
        stop: { command: command("stop"), timeout: LONG_S, loop_limit: null },
        beforeSubmitPrompt: { command: command("prompt"), timeout: LONG_S },
        afterAgentResponse: { command: command("said"), timeout: SHORT_S },
        sessionEnd: { command: command("end"), timeout: SHORT_S },
      }),
    },
    // more and more clients have their own `/loop`
    command: { path: "commands/loopwright.md", text: renderCursorCommand() },
    afterwards: [],
  },
  opencode: {
    folder: (scope, project, env) =>
      scope === "project"
        ? join(project, ".opencode")
        : join(absolutePath(env.XDG_CONFIG_HOME) ?? join(homeFolder(env), ".config"), "opencode"),
    plugin: "plugin/loopwright.js",
    command: { path: "command/loop.md", text: renderOpencodeCommand() },
    afterwards: [
      "opencode loads the plugin when it starts. `opencode run` exits after the first turn: use the terminal UI or `opencode serve`.",
    ],
  },
  copilot: {
    folder: folderNamed(".copilot", "COPILOT_HOME", ".github"),
    hooks: {
      path: "hooks/loopwright.json",
      isOwn: true,
      header: { version: 1 },
      stop: "agentStop",
      items: (command) => ({
        agentStop: shell(command, "stop", LONG_S),
        userPromptSubmitted: shell(command, "prompt", LONG_S),
        sessionStart: shell(command, "start", SHORT_S),
        sessionEnd: shell(command, "end", SHORT_S),
      }),
    },
    // Copilot has its own `/loop`
    command: { path: "skills/loopwright/SKILL.md", text: renderSkill("loopwright") },
    afterwards: ["Hooks of a project run only in a folder that Copilot trusts."],
  },
};

/** Is the whole list item ours? The command is in the item, or one level below. */
export function isOwnItem(client: ClientName): (item: unknown) => boolean {
  const has = (item: unknown): boolean => {
    if (!isFields(item)) return false;
    if ([item.command, item.bash, item.powershell].some((command) => isOwnCommand(command, client)))
      return true;
    return Array.isArray(item.hooks) && item.hooks.length > 0 && item.hooks.every(has);
  };
  return has;
}

function grouped(items: HookItems): HookItems {
  return Object.fromEntries(Object.entries(items).map(([event, item]) => [event, { hooks: [item] }]));
}

function run(command: string, timeout: number): object {
  return { type: "command", command, timeout };
}

/** People on other systems may share this file, so it has both commands. */
function shell(command: (event: ClientEvent) => string, event: ClientEvent, timeoutSec: number): object {
  const powershell = process.platform === "win32" ? command(event) : plainCommand("copilot", event);
  return { type: "command", bash: command(event), powershell, timeoutSec };
}

/** The folder `name` in the home folder, or `shared` in the project; `variable` may name another personal folder. */
function folderNamed(name: string, variable = "", shared = name): Target["folder"] {
  return (scope, project, env) =>
    scope === "project"
      ? join(project, shared)
      : (absolutePath(env[variable]) ?? join(homeFolder(env), name));
}
