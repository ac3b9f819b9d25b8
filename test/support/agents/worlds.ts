/**
 * Each real agent in a world of its own: beside a project of `makeProject` (../cli.ts) a HOME with its configuration,
 * its program on the PATH under the name that a person types, dummy keys, and a scripted model (model.ts) in place of
 * the vendor. `loop` run with `world.env` finds the agent as it does on a person's machine.
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Reply, Tokens } from "../claude/scripted-model.ts";
import {
  claudeHome,
  codexHome,
  copilotHome,
  geminiHome,
  type Home,
  opencodeHome,
  piHome,
  qwenHome,
  writeHome,
} from "./homes.ts";
import { type ClientName, clientProgram, installCommand, isRequired } from "./installed.ts";

export type WorldName = Exclude<ClientName, "node" | "mcp-conformance">;

type Tool = Extract<Reply, { kind: "tool" }>;
type Called = Pick<Tool, "name" | "input">;

/** What is known of an agent, as data. */
export interface AgentKind {
  /** Programs of its client folder that belong on the PATH. */
  readonly programs: readonly string[];
  /** It does not run on the Node that the tests run on. */
  readonly needsNewerNode?: true;
  readonly home: (modelUrl: string) => Home;
  /** How its model spells "write this file" (an absolute path) and "run this command". */
  readonly write: (path: string, content: string) => Called;
  readonly run: (command: string) => Called;
  /** The same for a command for which it asks leave, where that is spelled differently; null: it asks for nothing. */
  readonly ask?: ((command: string) => Called) | null;
  /** How its model spells a tool of an MCP server. */
  readonly mcpTool: (server: string, tool: string) => string;
}

const CLAUDE: Omit<AgentKind, "programs"> = {
  home: claudeHome,
  write: (path, content) => ({ name: "Write", input: { file_path: path, content } }),
  run: (command) => ({ name: "Bash", input: { command, description: "run it" } }),
  mcpTool: (server, tool) => `mcp__${server}__${tool}`,
};

const PI: AgentKind = {
  programs: ["pi"],
  home: piHome,
  write: (path, content) => ({ name: "write", input: { path, content } }),
  run: (command) => ({ name: "bash", input: { command } }),
  ask: null,
  mcpTool: (_server, tool) => tool,
};

export const KINDS: Readonly<Record<WorldName, AgentKind>> = {
  claude: { ...CLAUDE, programs: ["claude"] },
  "claude-acp": { ...CLAUDE, programs: ["claude-agent-acp"], needsNewerNode: true },
  codex: {
    programs: ["codex", "codex-acp"],
    home: codexHome,
    write: (path, content) => ({ name: "apply_patch", input: { input: addFile(path, content) } }),
    run: (command) => ({ name: "exec_command", input: { cmd: command } }),
    ask: (command) => ({
      name: "exec_command",
      input: { cmd: command, sandbox_permissions: "require_escalated", justification: "May I?" },
    }),
    mcpTool: (server, tool) => `mcp__${server}::${tool}`,
  },
  gemini: {
    programs: ["gemini"],
    home: geminiHome,
    write: (path, content) => ({ name: "write_file", input: { file_path: path, content } }),
    run: (command) => ({ name: "run_shell_command", input: { command, description: "run it" } }),
    mcpTool: (server, tool) => `mcp_${server}_${tool}`,
  },
  opencode: {
    programs: ["opencode"],
    home: opencodeHome,
    write: (path, content) => ({ name: "write", input: { filePath: path, content } }),
    run: (command) => ({ name: "bash", input: { command, description: "run it" } }),
    mcpTool: (server, tool) => `${server}_${tool}`,
  },
  copilot: {
    programs: ["copilot"],
    home: copilotHome,
    write: (path, content) => ({ name: "create", input: { path, file_text: content } }),
    run: (command) => ({ name: "bash", input: { command, description: "run it" } }),
    mcpTool: (server, tool) => `${server}-${tool}`,
  },
  qwen: {
    programs: ["qwen"],
    needsNewerNode: true,
    home: qwenHome,
    write: (path, content) => ({ name: "write_file", input: { file_path: path, content } }),
    run: (command) => ({ name: "run_shell_command", input: { command, is_background: false } }),
    mcpTool: (server, tool) => `mcp__${server}__${tool}`,
  },
  pi: PI,
  "pi-next": { ...PI, needsNewerNode: true },
};

export interface World {
  readonly name: WorldName;
  readonly home: string;
  /** On the PATH, by the name that a person types. */
  readonly programs: Readonly<Record<string, string>>;
  /** For `runLoop` and `startLoop`, or with `cleanEnv(project, env)` for who starts the agent itself. */
  readonly env: Readonly<Record<string, string>>;
  /** Replies of the model that make the agent do it. Paths are absolute. */
  write(path: string, content?: string, tokens?: Tokens): Tool;
  run(command: string, tokens?: Tokens): Tool;
  /** A command for which the agent asks leave first. Throws for agents that ask for nothing. */
  ask(command: string): Tool;
  mcp(server: string, tool: string, input: object): Tool;
}

/** Clients that are not installed and without which there is no such world. */
export function missingFor(name: WorldName): readonly ClientName[] {
  const { programs, needsNewerNode } = KINDS[name];
  const isThere = programs.every((program) => clientProgram(name, program) !== null);
  const hasNode = needsNewerNode === undefined || clientProgram("node", "node") !== null;
  return [...(isThere ? [] : [name]), ...(hasNode ? [] : ["node" as const])];
}

export const isWorldMissing = (name: WorldName) => missingFor(name).length > 0;
export const isWorldRequired = isRequired;

/** For the title of what is left out without it. */
export function whyWorldMissing(name: WorldName): string {
  const missing = missingFor(name);
  return missing.length === 0 ? "" : ` (not installed: ${installCommand(...missing)})`;
}

/** LOOP_TEST_AGENTS=all and, for pi, LOOP_TEST_PI=required make its absence a failure. */
export function expectWorld(name: WorldName): void {
  if (isWorldMissing(name)) throw new Error(`${name} is required${whyWorldMissing(name)}`);
}

/** The project is one of `makeProject` or `makeRepository`. */
export function makeWorld(name: WorldName, project: string, modelUrl: string): World {
  expectWorld(name);
  const kind = KINDS[name];
  const base = dirname(project);
  const home = join(base, "home");
  const temporary = join(base, "tmp");
  mkdirSync(temporary, { recursive: true });
  const { files, env } = kind.home(modelUrl);
  writeHome(home, { files, env });
  const programs = kind.programs.map((program) => [program, putOnPath(name, program, join(base, "bin"))]);
  return {
    name,
    home,
    programs: Object.fromEntries(programs) as Record<string, string>,
    env: { LANG: "C.UTF-8", SHELL: "/bin/sh", TMPDIR: temporary, ...env },
    write: (path, content = "hello\n", tokens) => reply(kind.write(path, content), tokens),
    run: (command, tokens) => reply(kind.run(command), tokens),
    ask: (command) => {
      const { run, ask = run } = kind;
      if (ask === null) throw new Error(`${name} asks for no permission`);
      return reply(ask(command));
    },
    mcp: (server, tool, input) => reply({ name: kind.mcpTool(server, tool), input }),
  };
}

function reply(called: Called, tokens?: Tokens): Tool {
  return { kind: "tool", ...called, ...(tokens === undefined ? {} : { tokens }) };
}

/** What needs a newer Node gets it by name: the PATH stays that of the tests. */
function putOnPath(name: WorldName, program: string, bin: string): string {
  const target = clientProgram(name, program) ?? "";
  const path = join(bin, program);
  if (KINDS[name].needsNewerNode === undefined) symlinkSync(target, path);
  else {
    writeFileSync(path, `#!/bin/sh\nexec '${clientProgram("node", "node")}' '${target}' "$@"\n`);
    chmodSync(path, 0o755);
  }
  return path;
}

function addFile(path: string, content: string): string {
  const lines = content.trimEnd().split("\n");
  return [
    "*** Begin Patch",
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    "*** End Patch",
  ].join("\n");
}
