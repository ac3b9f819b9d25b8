/**
 * A git that does not read the repository's configuration. An agent can write that configuration, or a file that it
 * includes, and many settings are programs: filters, merge drivers, hooks (git 2.54), monitors, helpers.
 *
 * Git takes what all work trees share from GIT_COMMON_DIR. We make such a folder in the person's own folder, outside the
 * project: links to the repository's objects and refs, and a configuration of ours with the repository's format. Settings
 * that start nothing (line endings, names, …) go along on the command line. So nothing that changes in the repository
 * while git runs can start a program.
 *
 * Settings of the person (`git config --global`) count, also filters: without Git LFS, every large file would go into the
 * object store. They do not count when they come from a file in the project. Of the repository's filters, exactly the
 * lines that `git lfs install --local` and `git-crypt init` write count; they run from the PATH outside the project.
 * Files of a filter that does not run are saved and restored byte by byte.
 */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode, orNull, readSmall, writeAtomic } from "../system/files.ts";
import { isInside } from "../system/inside.ts";
import { makeUserFolder, userFolder } from "../system/user-folder.ts";
import { type Git, type GitAnswer, mustSucceed, readable, refuse } from "./git-process.ts";

export interface Setting {
  /** `system`, `global`, `local`, `worktree`, `command`. */
  readonly scope: string;
  /** The file; null: the command line. */
  readonly file: string | null;
  readonly key: string;
  /** null: a key without a value, which means true. */
  readonly value: string | null;
}

interface Place {
  readonly gitDir: string;
  readonly commonDir: string;
  readonly top: string;
}

export function askSettings(git: Git): Promise<GitAnswer> {
  return git.run({ args: ["config", "--null", "--show-scope", "--show-origin", "--list"] });
}

export function parseSettings(answer: GitAnswer, cwd: string): readonly Setting[] {
  const fields = mustSucceed(answer).split("\0");
  const settings: Setting[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [scope = "", origin = "", line = ""] = fields.slice(at, at + 3);
    const [, key = "", value] = /^([^\n]*)(?:\n([\s\S]*))?$/.exec(line) ?? [];
    const file = origin.startsWith("file:") ? resolve(cwd, readable(origin.slice(5))) : null;
    if (scope !== "command") settings.push({ scope, file, key, value: value ?? null });
  }
  return settings;
}

/** Every file that the settings come from or could come from: also files that would be included, and missing ones. */
export function filesOf(settings: readonly Setting[], env: NodeJS.ProcessEnv): string[] {
  const { HOME = homedir(), XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM } = env;
  const usual = [`${HOME}/.gitconfig`, `${XDG_CONFIG_HOME || `${HOME}/.config`}/git/config`];
  const persons = [
    ...(GIT_CONFIG_GLOBAL === undefined ? usual : [GIT_CONFIG_GLOBAL]),
    GIT_CONFIG_SYSTEM ?? [],
  ];
  const included = settings.flatMap(({ key, value, file }) =>
    /^include(?:if\..*)?\.path$/s.test(key) && value !== null && file !== null
      ? [resolve(dirname(file), readable(value).replace(/^~\//, `${HOME}/`))]
      : [],
  );
  return [...new Set([...persons.flat(), ...settings.flatMap(({ file }) => file ?? []), ...included])];
}

/** Starts no program that the repository names. */
export function guardedGit(git: Git, place: Place, settings: readonly Setting[]): Git {
  const { gitDir, commonDir, top } = place;
  // in a linked work tree, the checkout beside it counts too
  const own = [top, basename(commonDir) === ".git" ? dirname(commonDir) : commonDir];
  const isOurs = (file: string) => own.some((dir) => isWithin(dir, file));
  const persons = settings.filter(isPersons);
  const isForeign = filesOf(persons, git.env).some(isOurs);
  const counted = settings.filter((setting) =>
    isPersons(setting)
      ? isForeign &&
        (isPlain(setting) || (setting.file !== null && !isOurs(setting.file) && isProgram(setting)))
      : isPlain(setting) || isKnownFilter(setting, settings),
  );
  const env = {
    GIT_DIR: gitDir,
    GIT_WORK_TREE: top,
    GIT_COMMON_DIR: commonFolder(git.env, place, formatOf(settings)),
    ...(isForeign ? { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" } : {}),
  };
  return git.with(
    env,
    counted.flatMap(({ key, value }) => ["-c", value === null ? key : `${key}=${readable(value)}`]),
  );
}

function isPersons({ scope }: Setting): boolean {
  return scope === "system" || scope === "global";
}

/** Also for a file that does not exist yet. */
function isWithin(dir: string, file: string): boolean {
  for (let path = file; ; path = dirname(path)) {
    if (existsSync(path)) return isInside(dir, path);
    if (path === dirname(path)) return false;
  }
}

/** Settings that name no program. */
const PLAIN =
  /^(?:core\.(?:autocrlf|eol|symlinks|filemode|ignorecase|precomposeunicode|trustctime|checkstat|attributesfile|excludesfile|sparsecheckout|sparsecheckoutcone|bigfilethreshold|compression|loosecompression)|user\.(?:name|email|useconfigonly)|(?:author|committer)\.(?:name|email)|merge\.(?:renames|renamelimit|directoryrenames)|diff\.(?:renames|renamelimit|algorithm)|remote\.[^=]+\.(?:url|lfsurl|promisor|partialclonefilter)|branch\.[^=]+\.remote|lfs\.(?:url|fetchinclude|fetchexclude)|lfs\.[^=]+\.access)$/;

function isPlain({ key }: Setting): boolean {
  return PLAIN.test(key);
}

function isProgram({ key }: Setting): boolean {
  return /^(?:filter\.[^=]+\.(?:clean|smudge|process|required)|merge\.[^=]+\.driver)$/.test(key);
}

const KNOWN_FILTER =
  /^(?:git-lfs (?:clean|smudge)(?: --skip)? -- %f|git-lfs filter-process(?: --skip)?|"?git-crypt"? (?:clean|smudge)(?: --key-name=\w+)?)$/;

/** `required` counts only if all lines of the filter do. */
function isKnownFilter({ key, value }: Setting, settings: readonly Setting[]): boolean {
  const [, name] = /^(filter\.[^=]+\.)(?:clean|smudge|process|required)$/.exec(key) ?? [];
  if (name === undefined) return false;
  if (!key.endsWith(".required")) return KNOWN_FILTER.test(value ?? "");
  const lines = settings.filter((one) => !isPersons(one) && one.key.startsWith(name) && one.key !== key);
  return lines.length > 0 && lines.every((one) => KNOWN_FILTER.test(one.value ?? ""));
}

/** What git reads only from the repository's own file: how its objects and refs are stored. */
function formatOf(settings: readonly Setting[]): string {
  const lines = ["[core]\n\tbare = false\n"];
  for (const { scope, key, value } of settings) {
    const [, section, name = ""] =
      /^(core)\.(repositoryformatversion|sharedrepository)$|^(extensions)\.([a-z]+)$/
        .exec(key)
        ?.filter((part) => part !== undefined) ?? [];
    if (section === undefined || scope !== "local" || name === "worktreeconfig") continue;
    if (!/^[\w./-]*$/.test(value ?? "")) refuse(`the repository's configuration has an unsupported ${key}`);
    lines.push(`[${section}]\n\t${name}${value === null ? "" : ` = ${value}`}\n`);
  }
  return lines.join("");
}

const SHARED = "objects refs packed-refs reftable logs info worktrees modules shallow lfs git-crypt".split(
  " ",
);

function commonFolder(env: NodeJS.ProcessEnv, { commonDir, top }: Place, format: string): string {
  const parent = parentFolder(env, top);
  const dir = join(parent, createHash("sha256").update(commonDir).digest("hex").slice(0, 32));
  if (!existsSync(dir)) {
    removeStale(parent);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  }
  const stat = lstatSync(dir);
  const isPrivate = stat.isDirectory() && (stat.mode & 0o022) === 0 && stat.uid === process.getuid?.();
  if (!isPrivate) refuse(`${dir} is not a private folder of yours; remove it`);
  for (const name of SHARED) link(join(commonDir, name), join(dir, name));
  if (readSmall(join(dir, "config")) !== format) writeAtomic(join(dir, "config"), format, false);
  return dir;
}

function link(target: string, path: string): void {
  try {
    symlinkSync(target, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

let temporary: string | null = null;

/** `~/.config/loopwright/git`. A temporary folder if that one is in the project, or cannot be made private. */
function parentFolder(env: NodeJS.ProcessEnv, top: string): string {
  const base = userFolder(env);
  if (base !== null && !isWithin(top, base)) {
    const made = orNull(() => makeUserFolder(env, "git"));
    if (made !== null) return made;
  }
  if (temporary === null) {
    const made = mkdtempSync(join(tmpdir(), "loop-git-"));
    process.once("exit", () => rmSync(made, { recursive: true, force: true }));
    temporary = made;
  }
  return temporary;
}

/** Folders of repositories that are gone. */
function removeStale(parent: string): void {
  for (const name of readdirSync(parent)) {
    const objects = join(parent, name, "objects");
    // a folder without the link is just being made
    const isMade = lstatSync(objects, { throwIfNoEntry: false }) !== undefined;
    if (isMade && !existsSync(objects)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}
