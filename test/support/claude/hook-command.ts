/** A hook as a client starts it: its command line in a shell, the event as JSON on stdin. */
import { spawn } from "node:child_process";

export interface HookRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runHookCommand(
  command: string,
  payload: object | string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<HookRun> {
  const child = spawn("sh", ["-c", command], { ...options, stdio: "pipe" });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (part) => {
    stdout += String(part);
  });
  child.stderr.on("data", (part) => {
    stderr += String(part);
  });
  // a hook that has nothing to do does not read
  child.stdin.on("error", () => {});
  child.stdin.end(typeof payload === "string" ? payload : JSON.stringify(payload));
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
