/** Asks one program for its version and survives whatever the program does. */
import { type ChildProcess, spawn } from "node:child_process";
import { pathOutside } from "../../system/find-program.ts";
import { stopTree } from "../../system/process-tree.ts";

export interface VersionAnswer {
  readonly version: string | null;
  /** The end of a sentence that starts with the program's name. */
  readonly problem: string | null;
}

const MAX_BYTES = 64 * 1024;
/** Limit for a pipe that stays open after the program ended. */
const CLOSE_WITHIN_MS = 500;
/** The only part of the output that is kept. A prefix such as `jq-` is removed. */
const VERSION =
  /(?<![\w.])(?:[a-z]+-|v|go)?(\d{1,4}(?:\.\d{1,6}){1,3}(?:[a-z]\d{0,4})?(?:[-+][0-9a-z.-]{1,30})?)(?![\w:/])/i;

export async function runVersion(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  limitMs: number,
  /** Ends the program at once, as if the time limit had passed. */
  signal?: AbortSignal,
): Promise<VersionAnswer> {
  let child: ChildProcess;
  try {
    // In the root folder: yarn runs, and rustup, go and corepack fetch, whatever the current folder asks for. In its
    // own group, so that everything ends together.
    const outside = { ...env, PATH: pathOutside(env, process.cwd()) };
    child = spawn(path, args, { cwd: "/", env: outside, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    return notStarted(error);
  }
  const output = { stdout: "", stderr: "", bytes: 0 };
  const end = await endOf(child, output, limitMs, signal);
  if (child.pid !== undefined) await stopTree({ group: child.pid, marks: [] }, 0);
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (end.kind === "error") return notStarted(end.error);
  if (end.kind === "late")
    return { version: null, problem: `did not print a version within ${limitMs / 1000} s` };
  const version = VERSION.exec(output.stdout)?.[1] ?? VERSION.exec(output.stderr)?.[1] ?? null;
  if (version === null || end.kind === "flood" || end.code !== 0)
    return { version: null, problem: "did not print a version" };
  return { version, problem: null };
}

type End =
  | { readonly kind: "closed"; readonly code: number | null }
  | { readonly kind: "error"; readonly error: Error }
  | { readonly kind: "late" }
  | { readonly kind: "flood" };

function endOf(
  child: ChildProcess,
  output: { stdout: string; stderr: string; bytes: number },
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<End> {
  return new Promise((done) => {
    let closing: NodeJS.Timeout | null = null;
    const settle = (end: End): void => {
      clearTimeout(limit);
      signal?.removeEventListener("abort", stop);
      if (closing !== null) clearTimeout(closing);
      done(end);
    };
    const stop = () => settle({ kind: "late" });
    const limit = setTimeout(stop, limitMs);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream]?.setEncoding("utf8").on("error", () => {});
      child[stream]?.on("data", (text: string) => {
        output.bytes += text.length;
        if (output.bytes > MAX_BYTES) settle({ kind: "flood" });
        else output[stream] += text;
      });
    }
    child.once("error", (error) => settle({ kind: "error", error }));
    child.once("close", (code) => settle({ kind: "closed", code }));
    // a process that was left behind may hold the pipe for ever
    child.once("exit", (code) => {
      closing = setTimeout(() => settle({ kind: "closed", code }), CLOSE_WITHIN_MS);
    });
  });
}

function notStarted(error: unknown): VersionAnswer {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
  return { version: null, problem: `could not be started (${code})` };
}
