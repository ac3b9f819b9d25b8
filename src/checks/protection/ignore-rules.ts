/**
 * The ignore rules of git when the loop started. Later rules do not count, so an agent cannot hide files with a new
 * `.gitignore`. The rules only remove files that a check writes among the tests.
 */
import { dirname, join, relative } from "node:path";
import { compileGlob, type GlobMatcher } from "../../core/glob.ts";
import { readPlain } from "../files/file-hash.ts";
import { findRoot } from "../files/git-files.ts";

export interface IgnoreRules {
  /** Call it before you ask for files in the folder. */
  enter(folder: string): void;
  isIgnored(path: string, isFolder: boolean): boolean;
  /** Texts of the ignore files, by folder. */
  texts(): Readonly<Record<string, string>>;
}

interface Rule {
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
  readonly matches: GlobMatcher;
}

const MAX_BYTES = 256 * 1024;

/** `recorded`: earlier texts, used instead of the files on disk. */
export function createIgnoreRules(
  root: string,
  recorded: Readonly<Record<string, string>> | null,
): IgnoreRules {
  const texts = new Map<string, string>();
  const rules: Rule[] = [];
  const folders = new Map<string, boolean>();
  const files = new Map<string, boolean>();
  const add = (folder: string, text: string | null): void => {
    if (text === null || text.trim() === "" || texts.has(folder)) return;
    texts.set(folder, text);
    for (const line of text.split("\n")) {
      const rule = parseRule(line, folder);
      if (rule !== null) rules.push(rule);
    }
  };
  const repository = recorded === null ? findRoot(root) : null;
  if (repository !== null) {
    for (const folder of foldersBetween(repository, root)) add(folder.key, readText(folder.path));
  }
  return {
    enter(folder) {
      if (recorded === null) {
        if (repository !== null && folder !== "") add(folder, readText(join(root, folder, ".gitignore")));
      } else {
        for (const key of folder === "" ? Object.keys(recorded).filter(isAbove) : [folder]) {
          add(key, Object.hasOwn(recorded, key) ? (recorded[key] ?? null) : null);
        }
      }
    },
    isIgnored(path, isFolder) {
      // all rules for a path are known once its folder was entered
      const answers = isFolder ? folders : files;
      const known = answers.get(path);
      if (known !== undefined) return known;
      const rule = rules.findLast((each) => (isFolder || !each.foldersOnly) && each.matches(path));
      const answer = rule !== undefined && !rule.isNegated;
      answers.set(path, answer);
      return answer;
    },
    texts: () => Object.fromEntries(texts),
  };
}

/** Rules from above the project or from the git folder. */
function isAbove(key: string): boolean {
  return key === "" || key.startsWith("..") || key.startsWith("!");
}

/** From the repository's root down to the project. The exclude file of git comes first, because it counts least. */
function foldersBetween(repository: string, root: string): { key: string; path: string }[] {
  const found: { key: string; path: string }[] = [];
  for (let folder = root; ; folder = dirname(folder)) {
    found.unshift({ key: relative(root, folder), path: join(folder, ".gitignore") });
    if (folder === repository) break;
  }
  const own = { key: `!${relative(root, repository)}`, path: join(repository, ".git", "info", "exclude") };
  return [own, ...found];
}

function readText(path: string): string | null {
  return readPlain(path, MAX_BYTES)?.toString("utf8") ?? null;
}

/** A pattern applies below its folder. An anchored pattern from above the project is left out. */
function parseRule(line: string, key: string): Rule | null {
  const text = line.replace(/\r$/, "").replace(/(?<!\\)\s+$/, "");
  if (text === "" || text.startsWith("#")) return null;
  const isNegated = text.startsWith("!");
  const foldersOnly = text.endsWith("/");
  const pattern = (isNegated ? text.slice(1) : text).replace(/\/$/, "").replaceAll(/[{}]/g, "\\$&");
  const folder = key.startsWith("!") ? key.slice(1) : key;
  const isAnchored = pattern.includes("/");
  if (folder.startsWith("..") && isAnchored) return null;
  const prefix =
    folder === "" || folder.startsWith("..") ? "" : `${folder.replaceAll(/[\\*?[\]{}]/g, "\\$&")}/`;
  const glob = isAnchored
    ? `/${prefix}${pattern.replace(/^\//, "")}`
    : prefix === ""
      ? pattern
      : `/${prefix}**/${pattern}`;
  return { isNegated, foldersOnly, matches: compileGlob(glob) };
}
