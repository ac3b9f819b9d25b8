/**
 * Scope budgets (C9): how much one attempt may read and change. What the engine keeps in `.loop` is nobody's work and
 * does not count. What cannot be known is said to be unknown, and breaks nothing.
 */

export interface ScopeBudget {
  readonly maxFilesToRead: number;
  readonly maxLinesToWrite: number;
  readonly maxFilesToModify: number;
}

export interface ScopeFacts {
  /** From the diff; null: there is none to measure. A file that was renamed is one change. */
  readonly changes: readonly ScopeChange[] | null;
  /** From the agent's tool calls, one file or many times the same; null: it does not tell them. */
  readonly filesRead: readonly string[] | null;
}

export interface ScopeChange {
  readonly path: string;
  readonly linesWritten: number;
}

/** `used` is null when it is unknown. */
export interface ScopeFigure {
  readonly used: number | null;
  readonly max: number;
}

export interface Scope {
  readonly kind: "kept" | "over";
  readonly filesRead: ScopeFigure;
  readonly filesChanged: ScopeFigure;
  readonly linesWritten: ScopeFigure;
  /** Sentences: what is over with its figures, and what is unknown. Empty: all is known, and kept. */
  readonly text: string;
}

export function scopeOf(budget: ScopeBudget, { changes, filesRead }: ScopeFacts): Scope {
  const counted = changes?.filter(({ path }) => !isEngines(normalPath(path))) ?? null;
  const read = filesRead?.map(normalPath).filter((path) => path !== "" && !isEngines(path)) ?? null;
  const figures = {
    filesRead: { used: read && new Set(read).size, max: budget.maxFilesToRead },
    filesChanged: {
      used: counted && new Set(counted.map(({ path }) => normalPath(path))).size,
      max: budget.maxFilesToModify,
    },
    linesWritten: {
      used: counted?.reduce((sum, { linesWritten }) => sum + linesWritten, 0) ?? null,
      max: budget.maxLinesToWrite,
    },
  };
  const over = [
    sayOver(figures.filesChanged, "file", "changed"),
    sayOver(figures.linesWritten, "line", "written"),
    sayOver(figures.filesRead, "file", "read"),
  ].filter((part) => part !== null);
  const sentences = [
    ...(over.length === 0 ? [] : [`Over the scope budget: ${over.join(", ")}.`]),
    ...(counted === null ? ["How much was changed is unknown: there is no diff."] : []),
    ...(read === null ? ["How many files were read is unknown: the agent does not tell."] : []),
  ];
  return { kind: over.length === 0 ? "kept" : "over", ...figures, text: sentences.join(" ") };
}

function sayOver({ used, max }: ScopeFigure, unit: string, done: string): string | null {
  if (used === null || used <= max) return null;
  return `${used} ${unit}${used === 1 ? "" : "s"} ${done} (${max === 0 ? "none" : `at most ${max}`} allowed)`;
}

/** The same file is the same text, however a tool was given it. */
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

/** Also of another project in the same repository. */
function isEngines(path: string): boolean {
  return path.split("/").includes(".loop");
}
