/**
 * Scope budgets (C9): how much one attempt may read and change. Files in `.loop` belong to the engine and do not
 * count. An unknown figure never breaks a budget; the text names it.
 */
import type { ScopeBudget } from "./backlog.ts";

export interface ScopeFacts {
  /** From the diff. A renamed file is one change. */
  readonly changes: readonly { readonly path: string; readonly linesWritten: number }[];
  /** From the agent's tool calls, possibly with repetitions; null: the agent does not report them. */
  readonly filesRead: readonly string[] | null;
}

/** Which limits the attempt exceeded, with the figures; null: none. */
export function whyOverScope(budget: ScopeBudget, { changes, filesRead }: ScopeFacts): string | null {
  const counted = changes.filter(({ path }) => !isEngineFile(normalPath(path)));
  const changed = new Set(counted.map(({ path }) => normalPath(path)));
  const lines = counted.reduce((sum, { linesWritten }) => sum + linesWritten, 0);
  const read = new Set(
    (filesRead ?? []).map(normalPath).filter((path) => path !== "" && !isEngineFile(path)),
  );
  const over = [
    renderOver(changed.size, budget.maxFilesToModify, "file", "changed"),
    renderOver(lines, budget.maxLinesToWrite, "line", "written"),
    renderOver(read.size, budget.maxFilesToRead, "file", "read"),
  ].filter((part) => part !== null);
  if (over.length === 0) return null;
  const unknown =
    filesRead === null ? " The number of files read is unknown: the agent does not report it." : "";
  return `Over the scope budget: ${over.join(", ")}.${unknown}`;
}

function renderOver(used: number, max: number, unit: string, done: string): string | null {
  if (used <= max) return null;
  return `${used} ${unit}${used === 1 ? "" : "s"} ${done} (${max === 0 ? "none" : `at most ${max}`} allowed)`;
}

/** Tools spell the path of one file in several ways. */
function normalPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") {
      const last = parts.at(-1);
      if (last === undefined || last === "..") parts.push(part);
      else parts.pop();
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return `${path.startsWith("/") ? "/" : ""}${parts.join("/")}`;
}

/** A repository can hold several projects, each with its own `.loop`. */
function isEngineFile(path: string): boolean {
  return path.split("/").includes(".loop");
}
