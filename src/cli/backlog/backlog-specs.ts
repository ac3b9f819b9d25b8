/** Reads the specs for a plan (files that a person names, or the usual files of a repository) and detects the stack. */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { readProjectFacts } from "../../checks/project-facts.ts";
import { detectStack, MANIFESTS, type Stack } from "../../core/backlog/prd/detect.ts";
import type { SpecText } from "../../core/backlog/prompts/plan-prompt.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { usageError } from "../../errors.ts";
import { readTextThroughLinks } from "../../store/files/read-text.ts";
import { readAnyones } from "../../system/files.ts";

const MAX_FILES = 12;
const MAX_MANIFEST = 1024 * 1024;
const MAX_BYTES = 5 * 1024 * 1024;
/** Limits for one spec and for all specs; the planner can read the rest itself. */
const MAX_LETTERS = 60_000;
const MAX_LETTERS_OF_ALL = 150_000;

export function readSpecs(root: string, named: readonly string[]): readonly SpecText[] {
  const files = named.length > 0 ? named.map((file) => readNamed(root, file)) : findSpecs(root);
  if (files.length === 0)
    throw usageError(
      "No spec found: there is no SPEC.md, PRD.md or README.md, and docs/ has none.",
      "Write a spec, or name one: loop backlog plan <file>",
    );
  let room = MAX_LETTERS_OF_ALL;
  return files.map(({ path, text }) => {
    const kept = startOf(text, Math.min(MAX_LETTERS, room));
    room -= kept.length;
    return { path, text: kept, left: text.length - kept.length };
  });
}

type Found = Pick<SpecText, "path" | "text">;

/** The text of a file that a person named. Throws when it is missing, no file, or too large. */
export function readGivenFile(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) throw usageError(`There is no file ${cleanLine(file)}.`);
  if (!stat.isFile()) throw usageError(`${cleanLine(file)} is not a file.`);
  if (stat.size > MAX_BYTES) throw usageError(`${cleanLine(file)} has more than 5 MB.`);
  return readTextThroughLinks(file) ?? "";
}

function readNamed(root: string, file: string): Found {
  const text = readGivenFile(file);
  if (text.includes("\0")) throw usageError(`${cleanLine(file)} is not text.`);
  if (text.trim() === "") throw usageError(`${cleanLine(file)} is empty.`);
  const way = relative(root, resolve(file));
  return { path: way.startsWith("..") ? resolve(file) : way, text };
}

/** Folders and file names, the most likely spec first. */
const PLACES: readonly (readonly [string, RegExp])[] = [
  ["", /^(?:spec|specification|requirements)[\w.-]*\.(?:md|txt)$/i],
  ["", /^prd[\w.-]*\.md$/i],
  ["specs", /\.md$/i],
  ["docs", /^(?:spec|prd|design|requirements)[\w.-]*\.md$/i],
  ["", /^(?:issues?|todo|backlog)\.(?:md|txt)$/i],
  ["issues", /\.md$/i],
  ["docs", /\.md$/i],
  ["", /^readme\.md$/i],
];

/** Regular files only: a link may point anywhere. */
function findSpecs(root: string): readonly Found[] {
  const paths = PLACES.flatMap(([folder, name]) =>
    namesIn(join(root, folder))
      .filter((file) => name.test(file))
      .map((file) => (folder === "" ? file : `${folder}/${file}`)),
  );
  return [...new Set(paths)]
    .map((path) => ({ path, text: readAnyones(join(root, path), MAX_BYTES) ?? "" }))
    .filter(({ text }) => text.trim() !== "" && !text.includes("\0"))
    .slice(0, MAX_FILES);
}

function namesIn(folder: string): readonly string[] {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder).sort() : [];
  } catch {
    return [];
  }
}

/** Cuts at the end of a line where possible. */
function startOf(text: string, letters: number): string {
  if (text.length <= letters) return text;
  const cut = text.slice(0, Math.max(0, letters));
  const end = cut.lastIndexOf("\n");
  return end === -1 ? cut.replace(/[\ud800-\udbff]$/, "") : cut.slice(0, end + 1);
}

/** Detects the stack from the files of the project. Never throws: an unreadable file counts as missing. */
export function readStack(root: string): Stack {
  const facts = readProjectFacts(root);
  const texts = MANIFESTS.filter((name) => facts.files.includes(name)).map((name) => [
    name,
    readAnyones(join(root, name), MAX_MANIFEST) ?? "",
  ]);
  return detectStack({ ...facts, manifests: Object.fromEntries(texts) as Record<string, string> });
}
