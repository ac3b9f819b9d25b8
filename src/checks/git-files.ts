/**
 * The files that git tracks or would track. Runs git and nothing else: whatever an agent wrote into the repository's
 * configuration, no monitor, hook, pager or transport of it is started.
 */
import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { isInside } from "../system/inside.ts";
import { decodePath } from "./raw-path.ts";

const ARGUMENTS = [
  "--no-pager",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.hooksPath=/dev/null",
  "ls-files",
  "-co",
  "--exclude-standard",
  "-z",
];

export interface GitFiles {
  /** Below the project, with `/`. null: no git here, or it cannot tell. */
  list(): Promise<readonly string[] | null>;
}

export function createGitFiles(projectDir: string, timeoutMs = 20_000): GitFiles {
  let program: string | null | undefined;
  return {
    async list() {
      const root = findRoot(projectDir);
      if (root === null) return null;
      program ??= findGit(projectDir);
      if (program === null) return null;
      const paths = await listFiles(program, projectDir, timeoutMs);
      // a project inside of somebody's repository of dot files is ignored as a whole
      return paths?.length === 0 && root !== projectDir ? null : paths;
    },
  };
}

function findRoot(projectDir: string): string | null {
  for (let folder = projectDir; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Never one from the project: under `npx` its own programs come first on the path. */
function findGit(projectDir: string): string | null {
  const name = process.platform === "win32" ? "git.exe" : "git";
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, name);
    if (isAbsolute(folder) && isProgram(path) && !isInside(projectDir, path)) return path;
  }
  return null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function listFiles(program: string, cwd: string, timeoutMs: number): Promise<string[] | null> {
  return new Promise((done) => {
    const chunks: Buffer[] = [];
    // an ignore file that is a pipe would keep git waiting for ever
    const child = spawn(program, ARGUMENTS, {
      cwd,
      env: gitEnvironment(),
      stdio: ["ignore", "pipe", "ignore"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stdout.on("error", () => {});
    child.once("error", () => done(null));
    child.once("close", (code) => done(code === 0 ? split(Buffer.concat(chunks)) : null));
  });
}

/** What points git to another repository is left out; a missing object is not fetched by a transport of the agent's. */
function gitEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^GIT_/i.test(name));
  return {
    ...Object.fromEntries(kept),
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
