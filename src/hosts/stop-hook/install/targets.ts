/** Where each client looks for hooks and commands, and in what form. Data; nothing is read or written here. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { ClientEvent, ClientName } from "../clients/client.ts";
import { isFields } from "../fields.ts";
import type { HookItems } from "./hook-lists.ts";
import { isOwnCommand, plainCommand } from "./shell.ts";
import { renderCursorCommand, renderGeminiCommand, renderOpencodeCommand, renderSkill } from "./texts.ts";

export type InstallScope = "user" | "project";

export interface Target {
  /** The client's folder: a person's own, or that of a project. */
  readonly folder: (scope: InstallScope, project: string, env: NodeJS.ProcessEnv) => string;
  /** The file with the hooks, below the folder; null: there is a plugin instead. */
  readonly hooks: HooksTarget | null;
  readonly plugin: string | null;
  /** The command that a person types. */
  readonly command: { readonly path: string; readonly text: string };
  /** What the person still has to do. */
  readonly afterwards: readonly string[];
}

export interface HooksTarget {
  readonly path: string;
  /** Nobody else has anything in it. */
  readonly isOwn: boolean;
  readonly header: Readonly<Record<string, unknown>>;
  readonly items: (command: (event: ClientEvent) => string) => HookItems;
  /** The client's name of the event by which others may hold up a stop too. */
  readonly stop: string;
}

/** Checks run while a hook waits. */
const LONG_S = 7200;
const SHORT_S = 30;

export const TARGETS: Readonly<Record<ClientName, Target>> = {
  codex: {
    folder: (scope, project, env) => folderOf(scope, project, env, { env: "CODEX_HOME", name: ".codex" }),
    hooks: {
      path: "hooks.json",
      isOwn: false,
      header: {},
      stop: "Stop",
      items: (command) =>
        grouped({
          Stop: { ...run(command("stop"), LONG_S), statusMessage: "Loopwright: checks run" },
          UserPromptSubmit: { ...run(command("prompt"), LONG_S), statusMessage: "Loopwright" },
          SessionStart: run(command("start"), SHORT_S),
          // more than these seconds it does not get
          Interrupt: run(command("interrupt"), 3),
          SessionEnd: run(command("end"), SHORT_S),
        }),
    },
    plugin: null,
    command: { path: "skills/loop/SKILL.md", text: renderSkill("loop") },
    afterwards: ["Codex runs hooks only after you have trusted them: start codex and type /hooks."],
  },
  gemini: {
    folder: (scope, project, env) => folderOf(scope, project, env, { env: null, name: ".gemini" }),
    hooks: {
      path: "settings.json",
      isOwn: false,
      header: {},
      stop: "AfterAgent",
      // in milliseconds here
      items: (command) =>
        grouped({
          AfterAgent: { name: "loopwright-stop", ...run(command("stop"), LONG_S * 1000) },
          BeforeAgent: { name: "loopwright-prompt", ...run(command("prompt"), LONG_S * 1000) },
          SessionStart: { name: "loopwright-start", ...run(command("start"), SHORT_S * 1000) },
          SessionEnd: { name: "loopwright-end", ...run(command("end"), SHORT_S * 1000) },
        }),
    },
    plugin: null,
    command: { path: "commands/loop.toml", text: renderGeminiCommand() },
    afterwards: ["Hooks of a project run only in a folder that Gemini CLI trusts."],
  },
  cursor: {
    folder: (scope, project, env) => folderOf(scope, project, env, { env: null, name: ".cursor" }),
    hooks: {
      path: "hooks.json",
      isOwn: false,
      header: { version: 1 },
      stop: "stop",
      items: (command) => ({
        stop: { command: command("stop"), timeout: LONG_S, loop_limit: null },
        beforeSubmitPrompt: { command: command("prompt"), timeout: LONG_S },
        afterAgentResponse: { command: command("said"), timeout: SHORT_S },
        sessionEnd: { command: command("end"), timeout: SHORT_S },
      }),
    },
    plugin: null,
    // `/loop` is taken in more and more clients
    command: { path: "commands/loopwright.md", text: renderCursorCommand() },
    afterwards: [],
  },
  opencode: {
    folder: (scope, project, env) =>
      scope === "project"
        ? join(project, ".opencode")
        : join(absolute(env.XDG_CONFIG_HOME) ?? join(homeOf(env), ".config"), "opencode"),
    hooks: null,
    plugin: "plugin/loopwright.js",
    command: { path: "command/loop.md", text: renderOpencodeCommand() },
    afterwards: [
      "opencode loads it when it starts. `opencode run` ends at the first rest: use the terminal UI or serve.",
    ],
  },
  copilot: {
    folder: (scope, project, env) =>
      scope === "project"
        ? join(project, ".github")
        : (absolute(env.COPILOT_HOME) ?? join(homeOf(env), ".copilot")),
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
    plugin: null,
    // `/loop` is a command of its own there
    command: { path: "skills/loopwright/SKILL.md", text: renderSkill("loopwright") },
    afterwards: ["Hooks of a project run only in a folder that Copilot trusts."],
  },
};

/** An item of a list of hooks that is all ours: the command stands in it, or one level below. */
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

/** A file that others may have on another system. */
function shell(command: (event: ClientEvent) => string, event: ClientEvent, timeoutSec: number): object {
  const powershell = process.platform === "win32" ? command(event) : plainCommand("copilot", event);
  return { type: "command", bash: command(event), powershell, timeoutSec };
}

function folderOf(
  scope: InstallScope,
  project: string,
  env: NodeJS.ProcessEnv,
  place: { readonly env: string | null; readonly name: string },
): string {
  if (scope === "project") return join(project, place.name);
  return (place.env === null ? null : absolute(env[place.env])) ?? join(homeOf(env), place.name);
}

function homeOf(env: NodeJS.ProcessEnv): string {
  return absolute(env.HOME) ?? homedir();
}

function absolute(path: string | undefined): string | null {
  return path !== undefined && isAbsolute(path) ? path : null;
}
