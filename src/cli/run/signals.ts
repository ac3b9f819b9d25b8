/** The ways to be asked to end: Ctrl-C, a service manager, a terminal that is closed. */
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { isatty } from "node:tty";

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Returns how to end listening; until then none of them ends the process by itself. */
export function onStopSignals(callback: (signal: StopSignal) => void): () => void {
  // nohup leaves no output on a terminal: where one is, the note is an old one
  const hangUp = !isatty(1) && isUnderNohup(process.env) ? () => {} : callback;
  process.on("SIGINT", callback).on("SIGTERM", callback).on("SIGHUP", hangUp);
  return () => {
    process.off("SIGINT", callback).off("SIGTERM", callback).off("SIGHUP", hangUp);
  };
}

/**
 * Whether `nohup` started us. Node sets every signal back to its default before any of our code runs, so that
 * SIGHUP was ignored cannot be seen any more, and a listener that does nothing has to ignore it again. What can be
 * seen: the shell's note of what it called, and what nohup puts in place of a terminal: the file nohup.out, and a
 * stdin that is open for writing only. With neither (a script in plain sh, its output sent to a file) it is not known.
 */
export function isUnderNohup(
  env: Readonly<Record<string, string | undefined>>,
  stdin: string = "/proc/self/fd/0",
  stdout: string = "/proc/self/fd/1",
): boolean {
  if (basename(env._ ?? "") === "nohup") return true;
  try {
    if (basename(readlinkSync(stdout)) === "nohup.out") return true;
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(stdin.replace("/fd/", "/fdinfo/"), "utf8"))?.[1];
    return readlinkSync(stdin) === "/dev/null" && (Number.parseInt(flags ?? "0", 8) & 3) === 1;
  } catch {
    return false;
  }
}

export interface StopRequest {
  /** Aborted with the name of the signal as its reason. */
  readonly signal: AbortSignal;
  off(): void;
}

/** For who has to listen before there is anything to stop. */
export function listenForStop(): StopRequest {
  const controller = new AbortController();
  return { signal: controller.signal, off: onStopSignals((signal) => controller.abort(signal)) };
}
