/** Signals that ask the process to end: from Ctrl-C, a service manager, or a closed terminal. */
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { isatty } from "node:tty";

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Returns a function that stops listening. Until then no signal ends the process by itself. */
export function onStopSignals(callback: (signal: StopSignal) => void): () => void {
  // nohup redirects output away from a terminal: with a terminal, `_` is stale
  const hangUp = !isatty(1) && isUnderNohup(process.env) ? () => {} : callback;
  process.on("SIGINT", callback).on("SIGTERM", callback).on("SIGHUP", hangUp);
  return () => {
    process.off("SIGINT", callback).off("SIGTERM", callback).off("SIGHUP", hangUp);
  };
}

/**
 * Whether `nohup` started us. Node resets every signal before our code runs, so an ignored SIGHUP is not visible, and an
 * empty listener must ignore it again. Visible signs: the shell's variable `_`, the file nohup.out, and a stdin that is
 * open for writing only. Without these (plain sh with output to a file) the answer is not known.
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
  /** Aborted with the name of the first signal as its reason. */
  readonly signal: AbortSignal;
  /** Calls back for every past and future signal. `nth` counts from 1. */
  hear(callback: (signal: StopSignal, nth: number) => void): void;
  off(): void;
}

/** Listens before there is anything to stop. */
export function listenForStop(): StopRequest {
  const controller = new AbortController();
  const came: StopSignal[] = [];
  let tell: (signal: StopSignal, nth: number) => void = () => {};
  const off = onStopSignals((signal) => {
    came.push(signal);
    controller.abort(signal);
    tell(signal, came.length);
  });
  return {
    signal: controller.signal,
    hear(callback) {
      tell = callback;
      for (const [index, signal] of [...came].entries()) callback(signal, index + 1);
    },
    off,
  };
}
