/** Finds programs on the PATH and asks for their versions. */
import { realpathSync, statSync } from "node:fs";
import { lookForProgram, NOT_THERE, pathOutside } from "../../system/find-program.ts";
import type { Capabilities, Problem, Program } from "./capabilities-file.ts";
import { runVersion } from "./program-version.ts";

export const AGENT_PROGRAMS =
  "claude codex gemini opencode copilot qwen pi cursor-agent aider amp crush droid".split(" ");

export const TOOL_PROGRAMS =
  "git gh glab node npm pnpm yarn bun deno python3 uv go cargo rustc java ruby php dotnet docker podman make cmake jq rg tmux".split(
    " ",
  );

/** Programs that print their version without `--version`. */
const VERSION_ARGUMENTS: Readonly<Record<string, string>> = { go: "version", tmux: "-V" };

/** With more at once, a slow program would look as if it hangs. */
const AT_ONCE = 8;

type FoundProgram = Omit<Program, "version">;

export interface LookFor {
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  /** The previous result. A program whose file has not changed is not started again. */
  readonly known: Capabilities | null;
  /** Called with the number of programs that will be started. */
  readonly onAsking?: (count: number) => void;
  readonly limitMs?: number;
}

/** Starts nothing. */
export function findPrograms(
  names: readonly string[],
  project: string,
  env: NodeJS.ProcessEnv,
): { readonly found: readonly FoundProgram[]; readonly problems: readonly Problem[] } {
  const found: FoundProgram[] = [];
  const problems: Problem[] = [];
  for (const name of names) {
    const { path, reason } = lookForProgram(name, env, project);
    if (path !== null)
      found.push({ name, path, changedAt: Math.floor(statSync(realpathSync(path)).mtimeMs) });
    else if (reason !== NOT_THERE) problems.push({ where: name, problem: reason });
  }
  return { found, problems };
}

export async function askVersions(
  found: readonly FoundProgram[],
  look: LookFor,
): Promise<{ readonly programs: Program[]; readonly problems: readonly Problem[] }> {
  const problems: Problem[] = [];
  const known = [...(look.known?.agents ?? []), ...(look.known?.tools ?? [])];
  const programs = found.map(({ name, path, changedAt }) => {
    const before = known.find((one) => one.name === name && one.path === path && one.changedAt === changedAt);
    if (before?.version === null)
      problems.push(...(look.known?.problems ?? []).filter(({ where }) => where === name));
    return { name, path, version: before?.version ?? null, changedAt, isKnown: before !== undefined };
  });
  const queue = programs.filter(({ isKnown }) => !isKnown);
  if (queue.length > 0) look.onAsking?.(queue.length);
  const env = versionEnvironment(look.project, look.env);
  const work = async (): Promise<void> => {
    for (let program = queue.shift(); program !== undefined; program = queue.shift()) {
      const argument = VERSION_ARGUMENTS[program.name] ?? "--version";
      const answer = await runVersion(program.path, [argument], env, look.limitMs ?? 5_000);
      program.version = answer.version;
      if (answer.problem !== null) problems.push({ where: program.name, problem: answer.problem });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { programs: programs.map(({ isKnown: _, ...program }) => program), problems };
}

/** Variables that programs and version managers need. Keys and tokens are not among them. */
const KEPT =
  /^(?:HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TMPDIR|XDG_\w+|NVM_\w+|VOLTA_HOME|ASDF_\w+|MISE_\w+|PYENV_ROOT|RUSTUP_HOME|CARGO_HOME|GOROOT|JAVA_HOME|DOTNET_ROOT|SDKMAN_DIR)$/;

/** Asking for a version must not download anything. */
const QUIET = {
  TERM: "dumb",
  NO_COLOR: "1",
  NO_UPDATE_NOTIFIER: "1",
  npm_config_update_notifier: "false",
  GH_NO_UPDATE_NOTIFIER: "1",
  DISABLE_AUTOUPDATER: "1",
  COREPACK_ENABLE_NETWORK: "0",
  COREPACK_ENABLE_PROJECT_SPEC: "0",
  GOTOOLCHAIN: "local",
  RUSTUP_AUTO_INSTALL: "0",
  DOTNET_CLI_TELEMETRY_OPTOUT: "1",
} as const;

/** The PATH must not lead into the project: `#!/usr/bin/env node` would find a `node` there. */
function versionEnvironment(project: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => KEPT.test(name));
  return { ...Object.fromEntries(kept), ...QUIET, PATH: pathOutside(env, project) };
}
