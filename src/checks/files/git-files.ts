/**
 * Lists the files that git tracks or would track. Runs only git: no monitor, hook, pager or transport from the
 * repository's configuration starts, because an agent may have written it.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram, pathOutside } from "../../system/find-program.ts";
import type { Listings } from "./listings.ts";
import { decodePath } from "./raw-path.ts";
import { createSteadyList, type SteadyList } from "./steady-list.ts";

const SETTINGS = ["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
const FILES = [...SETTINGS, "ls-files", "-co", "--exclude-standard", "-z"];
/** Ignored files and folders. */
const IGNORED = [...SETTINGS, "ls-files", "-oi", "--exclude-standard", "--directory", "-z"];
/** The ignored folders are read again after this many lists. */
const IGNORED_FOR = 50;

/** The list is relative to the project, with `/`. null: no git repository, or git failed. */
type ListGitFiles = () => Promise<readonly string[] | null>;

export function createGitList(projectDir: string, listings: Listings, timeoutMs = 20_000): ListGitFiles {
  let program: string | null | undefined;
  let steady: { readonly root: string; readonly list: SteadyList } | null = null;
  let ignored: ReadonlySet<string> | null = null;
  let asked = 0;
  // computed once, because a copy of the environment is slow
  let environment: NodeJS.ProcessEnv | undefined;
  return async () => {
    const root = findRoot(projectDir);
    if (root === null) return null;
    program ??= findProgram("git", process.env, projectDir);
    if (program === null) return null;
    if (steady?.root !== root) steady = { root, list: createSteadyList(projectDir, root, listings) };
    const same = steady.list.current();
    if (same !== null) return same;
    environment ??= gitEnvironment(projectDir);
    const place = { cwd: projectDir, env: environment, timeout: timeoutMs };
    if (asked++ % IGNORED_FOR === 0) ignored = foldersOf((await runGit(program, IGNORED, place)) ?? []);
    const asOf = ignored === null ? null : steady.list.look(ignored);
    const paths = await runGit(program, FILES, place);
    if (paths !== null && ignored !== null) steady.list.keep(paths, ignored, asOf);
    // a repository of dot files above the project may ignore the whole project
    return paths?.length === 0 && root !== projectDir ? null : paths;
  };
}

function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1)));
}

/** The top of the git work tree. */
export function findRoot(projectDir: string): string | null {
  for (let folder = projectDir; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

type GitPlace = { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly timeout: number };

/** null: git failed. Needs a timeout, because an ignore file that is a pipe would block git for ever. */
function runGit(program: string, args: readonly string[], place: GitPlace): Promise<string[] | null> {
  return new Promise((done) => {
    const chunks: Buffer[] = [];
    const child = spawn(program, args, {
      ...place,
      stdio: ["ignore", "pipe", "ignore"],
      killSignal: "SIGKILL",
    });
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stdout.on("error", () => {});
    child.once("error", () => done(null));
    child.once("close", (code) => done(code === 0 ? split(Buffer.concat(chunks)) : null));
  });
}

/** Without variables that select another repository. Missing objects are not fetched: the transport could be the agent's. */
function gitEnvironment(projectDir: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^GIT_/i.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: pathOutside(process.env, projectDir),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C",
  };
}

function split(output: Buffer): string[] {
  const text = output.toString("utf8");
  if (!text.includes("�")) return text.split("\0").slice(0, -1);
  const paths: string[] = [];
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from);
    if (end === -1) break;
    paths.push(decodePath(output.subarray(from, end)));
    from = end + 1;
  }
  return paths;
}
