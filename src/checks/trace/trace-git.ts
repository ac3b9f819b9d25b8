/** What git runs for a check: aliases, hooks, and programs from its settings. */
import { posix } from "node:path";
import { skipFlags, valuesOf } from "../../core/shell/words.ts";
import { readPlain } from "../files/file-hash.ts";
import { placeInProject, readProjectText, type Trace } from "./found.ts";
import { GIT_SETTINGS, type GitSetting, parseGitConfig } from "./git-config.ts";
import { gitSettings, ownPath, ownPlace } from "./own-settings.ts";

const MAX_INCLUDED = 20;
const CONFIG_BYTES = 512 * 1024;
const VALUED = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];
/** Git commands whose result no hook can change. */
const QUIET: ReadonlySet<string> = new Set(
  (
    "status diff log show ls-files ls-tree ls-remote rev-parse rev-list grep describe cat-file blame annotate branch tag config remote " +
    "fetch add init mv rm reset restore stash clean bisect shortlog diff-index diff-files diff-tree hash-object name-rev merge-base " +
    "for-each-ref show-ref show-branch symbolic-ref var version help archive apply check-ignore check-attr count-objects fsck notes"
  ).split(" "),
);
const HOOKS = (
  "pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge pre-push pre-rebase post-rewrite post-checkout " +
  "applypatch-msg pre-applypatch post-applypatch pre-receive update post-receive post-update reference-transaction push-to-checkout"
).split(" ");

export function traceGit(trace: Trace, args: readonly string[], cwd: string): void {
  const folder = valuesOf(args.slice(0, 2), ["-C"])[0];
  const home = folder === undefined ? cwd : (placeInProject(cwd, folder, trace.root) ?? cwd);
  const repository = findRepository(posix.join(trace.root, home));
  const settings = readSettings(trace, repository);
  const [verb = "", ...words] = skipFlags(args, VALUED);
  const alias = settings.findLast(({ name }) => name === `alias.${verb.toLowerCase()}`)?.value;
  const top = repository === null ? home : posix.relative(trace.root, repository.top);
  if (alias?.startsWith("!")) trace.line(alias.slice(1), top);
  else if (alias !== undefined) trace.line(`git ${alias} ${words.join(" ")}`, home);
  if (repository !== null && !QUIET.has(verb)) traceHooks(trace, repository, settings, top);
  trace.runner("git", "git", args, cwd);
}

interface Repository {
  /** Absolute paths: the work tree, its git folder, and the git folder that all worktrees share. */
  readonly top: string;
  readonly own: string;
  readonly common: string;
}

function findRepository(start: string): Repository | null {
  for (let top = start; ; top = posix.dirname(top)) {
    const link = readLine(posix.join(top, ".git"));
    const own = posix.resolve(top, link?.replace(/^gitdir: /, "") ?? ".git");
    if (readLine(posix.join(own, "HEAD")) !== null)
      return { top, own, common: posix.resolve(own, readLine(posix.join(own, "commondir")) ?? ".") };
    if (top === posix.dirname(top)) return null;
  }
}

function readLine(place: string): string | null {
  return readPlain(place, CONFIG_BYTES)?.toString("utf8").split("\n", 1)[0]?.trim() ?? null;
}

/** Settings in the order in which git reads them, with included files. */
function readSettings(trace: Trace, repository: Repository | null): GitSetting[] {
  const settings: GitSetting[] = [];
  const open = gitSettings().map((place) => ({ place, isOwn: true }));
  if (repository !== null) {
    const { common, own } = repository;
    open.push({ place: posix.join(common, "config"), isOwn: false });
    open.push({ place: posix.join(own, "config.worktree"), isOwn: false });
    for (const name of ["attributes", "exclude"])
      trace.found.files.add(posix.relative(trace.root, posix.join(common, "info", name)));
  }
  for (let at = 0; at < open.length && at < MAX_INCLUDED; at++) {
    const { place, isOwn } = open[at] ?? { place: "", isOwn: true };
    if (isOwn) trace.found.own.add(ownPath(place) + GIT_SETTINGS);
    else trace.found.values.add(posix.relative(trace.root, place) + GIT_SETTINGS);
    const found = parseGitConfig(readPlain(place, CONFIG_BYTES)?.toString("utf8") ?? "");
    settings.push(...found);
    for (const { name, value } of found)
      if (/^include(?:if\..*)?\.path$/s.test(name))
        open.push({ place: posix.resolve(posix.dirname(place), ownPlace(value)), isOwn: true });
  }
  return settings;
}

function traceHooks(
  trace: Trace,
  repository: Repository,
  settings: readonly GitSetting[],
  top: string,
): void {
  const named = settings.findLast(({ name }) => name === "core.hookspath")?.value;
  const folder =
    named === undefined
      ? posix.join(repository.common, "hooks")
      : posix.resolve(repository.top, ownPlace(named));
  for (const hook of HOOKS) {
    const place = posix.join(folder, hook);
    const path = posix.relative(trace.root, place);
    trace.found.files.add(path);
    if (readProjectText(trace.root, path) !== null) trace.script(place, top, false);
  }
}
