/** Compares two git trees: files, lines and the text of the diff. Leaves out every `.loop`. */
import { FILES, mustSucceed, splitNames } from "./checkpoints/stage.ts";
import { type Git, readable } from "./git-process.ts";

export interface ChangedFile {
  /** Relative to the top of the work tree. */
  readonly path: string;
  /** The old name; null unless the file was renamed. */
  readonly from: string | null;
  readonly kind: "added" | "changed" | "deleted" | "renamed";
  /** 0 for binary files and repositories. */
  readonly linesWritten: number;
  readonly linesDeleted: number;
  readonly isBinary: boolean;
  /** A submodule or a nested repository: only its commit is known. */
  readonly isRepository: boolean;
}

/** With the name as git has it, one letter per byte, and the objects. */
interface Entry extends ChangedFile {
  readonly name: string;
  readonly objects: readonly string[];
}

export interface TreeDiff {
  readonly files: readonly ChangedFile[];
  /** The unified diff. `isCut`: a part is missing; the last lines say so. */
  readonly text: string;
  readonly isCut: boolean;
}

/** The most characters of text. */
const MAX_TEXT = 200_000;
/** The most bytes of content to compare. */
const MAX_CONTENT = 32 * 1024 * 1024;
/** More names would not fit on a command line. */
const MAX_LEFT_OUT = 200;
const REPOSITORY = "160000";
const RENAMES = ["-r", "-M", "-l1000"];
/** The git configuration could start programs for both. */
const NO_PROGRAMS = ["--no-ext-diff", "--no-textconv"];

export async function diffTrees(
  git: Git,
  before: string,
  after: string,
  maxText = MAX_TEXT,
): Promise<TreeDiff> {
  const args = ["diff-tree", ...RENAMES, "-z", "--raw", "--numstat", "--full-index", ...NO_PROGRAMS];
  const output = mustSucceed(await git.run({ args: [...args, before, after, "--", ...FILES] }));
  const entries = parseEntries(output);
  const leftOut = await tooLarge(git, entries);
  const { text, isCut } = await renderText(git, before, after, leftOut, maxText);
  const files = entries.map(({ name: _, objects: __, ...file }) => file);
  return { files, text, isCut };
}

/** Names of the files that differ. */
export async function changedNames(git: Git, before: string, after: string): Promise<readonly string[]> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after, "--", ...FILES];
  return splitNames(mustSucceed(await git.run({ args })));
}

/** First `:modes objects status` and one or two names for each file, then the line counts for each file. */
function parseEntries(output: string): readonly Entry[] {
  const fields = output.split("\0");
  const entries: Entry[] = [];
  let at = 0;
  while (fields[at]?.startsWith(":")) {
    const [oldMode = "", mode = "", oldObject = "", object = "", status = ""] = (fields[at] ?? "")
      .slice(1)
      .split(" ");
    const isRenamed = /^[RC]/.test(status);
    const first = fields[at + 1] ?? "";
    const name = isRenamed ? (fields[at + 2] ?? "") : first;
    at += isRenamed ? 3 : 2;
    entries.push({
      name,
      path: readable(name),
      from: isRenamed ? readable(first) : null,
      kind: isRenamed ? "renamed" : status === "A" ? "added" : status === "D" ? "deleted" : "changed",
      linesWritten: 0,
      linesDeleted: 0,
      isBinary: false,
      isRepository: mode === REPOSITORY || oldMode === REPOSITORY,
      objects: mode === REPOSITORY || oldMode === REPOSITORY ? [] : [oldObject, object],
    });
  }
  // in the same order; a renamed file has an empty field before its two names
  return entries.map((entry) => {
    const [, written = "", deleted = "", name = ""] =
      /^([\d-]+)\t([\d-]+)\t([\s\S]*)$/.exec(fields[at] ?? "") ?? [];
    at += name === "" ? 3 : 1;
    if (entry.isRepository) return entry;
    if (written === "-") return { ...entry, isBinary: true };
    return { ...entry, linesWritten: Number(written), linesDeleted: Number(deleted) };
  });
}

/** Files that are too large to show; null: too many of them. */
async function tooLarge(git: Git, entries: readonly Entry[]): Promise<readonly Entry[] | null> {
  const shown = entries.filter(({ isBinary }) => !isBinary);
  const asked = shown.flatMap(({ objects }) => objects.filter((object) => !/^0+$/.test(object)));
  if (asked.length === 0) return [];
  const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
  const output = mustSucceed(await git.run({ args, input: `${asked.join("\n")}\n` }));
  const sizes = new Map<string, number>();
  for (const line of output.split("\n")) {
    const [object = "", size = ""] = line.split(" ");
    sizes.set(object, Number(size) || 0);
  }
  let left = MAX_CONTENT;
  const leftOut = shown.filter(({ objects }) => {
    const size = objects.reduce((sum, object) => sum + (sizes.get(object) ?? 0), 0);
    if (size > left) return true;
    left -= size;
    return false;
  });
  return leftOut.length > MAX_LEFT_OUT ? null : leftOut;
}

async function renderText(
  git: Git,
  before: string,
  after: string,
  leftOut: readonly Entry[] | null,
  maxText: number,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  if (leftOut === null) return { text: "… the diff is too large to show.\n", isCut: true };
  const form = ["-p", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--full-index"];
  const excluded = leftOut.map(({ name }) => `:(exclude,glob)${asPattern(name)}`);
  const args = ["diff-tree", ...RENAMES, ...form, ...NO_PROGRAMS, before, after, "--", ...FILES, ...excluded];
  const whole = readable(mustSucceed(await git.run({ args })));
  const isLong = whole.length > maxText;
  const kept = isLong ? whole.slice(0, Math.max(0, whole.lastIndexOf("\n", maxText - 1) + 1)) : whole;
  const missing = [
    ...(isLong ? [`… ${whole.length - kept.length} more characters of the diff are not shown.`] : []),
    ...leftOut.map(({ path }) => `… ${path} is too large to show.`),
  ];
  return { text: [kept, ...missing.map((line) => `${line}\n`)].join(""), isCut: missing.length > 0 };
}

/** Bytes that are not ASCII cannot be passed on a command line, so `?` stands for each. */
function asPattern(name: string): string {
  return name.replaceAll(/[\\*?[\]]/g, "\\$&").replaceAll(/[\u0080-\u00ff]/g, "?");
}
