/** The test runners that a shell line starts, and what the exit code of the line says of each. */
import { invocationOf } from "./invocation.ts";
import type { Invocation } from "./script-names.ts";
import { readShellLine, type ShellCommand } from "./shell-commands.ts";

export interface RunnerUse {
  readonly invocation: Invocation;
  /** An exit code of 0 is, or includes, its own. */
  readonly tellsSuccess: boolean;
  /** An exit code other than 0 is its own: neither a pipe nor `|| true` nor another command stands for it. */
  readonly tellsFailure: boolean;
}

export function runnerUses(line: string, depth = 0): RunnerUse[] {
  return usesIn(readShellLine(line), depth);
}

const MAX_DEPTH = 3;
const MAX_WORDS = 500;

function usesIn(row: readonly ShellCommand[], depth: number): RunnerUse[] {
  const hasPipefail = row.some(({ words }) => words[0] === "set" && words.includes("pipefail"));
  return row.flatMap((command, at) => {
    const substituted = usesIn(command.inner, depth).map(({ invocation }) => hidden(invocation));
    const script = depth < MAX_DEPTH ? scriptOf(command.words) : null;
    const started = script === null ? [] : runnerUses(script, depth + 1);
    const invocation = invocationOf(command.words.slice(0, MAX_WORDS));
    const own = invocation === null ? [] : [{ invocation, tellsSuccess: true, tellsFailure: true }];
    const uses = [...started, ...own];
    if (uses.length === 0) return substituted;
    const tellsSuccess = !command.isNegated && isSuccessTold(row, at, hasPipefail);
    const tellsFailure = !command.isNegated && isFailureTold(row, at, hasPipefail);
    return [
      ...substituted,
      ...uses.map((use) => ({
        invocation: use.invocation,
        tellsSuccess: tellsSuccess && use.tellsSuccess,
        tellsFailure: tellsFailure && use.tellsFailure,
      })),
    ];
  });
}

function hidden(invocation: Invocation): RunnerUse {
  return { invocation, tellsSuccess: false, tellsFailure: false };
}

/** `bash -lc '…'` */
function scriptOf(words: readonly string[]): string | null {
  const shell = words.findIndex((word) => /(?:^|\/)(?:ba|z|da)?sh$/.test(word));
  if (shell === -1 || (shell > 0 && !/^(?:env|timeout|sudo|docker|time|nice)$/.test(words[0] ?? "")))
    return null;
  const flag = words.findIndex((word, i) => i > shell && /^-[a-z]*c$/.test(word));
  return flag === -1 ? null : (words[flag + 1] ?? null);
}

/** All that stands behind it ran because it succeeded, or nothing does. */
function isSuccessTold(row: readonly ShellCommand[], at: number, hasPipefail: boolean): boolean {
  for (let i = at; i < row.length - 1; i++) {
    const end = row[i]?.end;
    if (end !== "&&" && !(end === "|" && hasPipefail)) return false;
  }
  // `a || runner` succeeds without it.
  return row.at(-1)?.end !== "&" && row[at - 1]?.end !== "||";
}

function isFailureTold(row: readonly ShellCommand[], at: number, hasPipefail: boolean): boolean {
  if (row.at(-1)?.end === "&") return false;
  for (let i = at; i < row.length - 1; i++) {
    const end = row[i]?.end;
    // Behind `||` it has failed already, and so did what was to make up for it.
    if (end === "||") break;
    if (!(end === "|" && hasPipefail)) return false;
  }
  if (row.slice(at).some(({ end }, i) => end === ";" && at + i < row.length - 1)) return false;
  for (let i = at - 1; i >= 0 && row[i]?.end === "&&"; i--) {
    if (!HARMLESS.has(row[i]?.words[0] ?? "")) return false;
  }
  return true;
}

/** They hardly ever fail; what else stands in front may be why the tests never ran. */
const HARMLESS: ReadonlySet<string> = new Set(
  "cd pushd popd export unset source . set echo printf mkdir rm cp touch sleep true clear date pwd which nvm fnm".split(
    " ",
  ),
);
