/** The ways to be asked to end: Ctrl-C, a service manager, a terminal that is closed. */

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

const SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Returns how to end listening; until then none of them ends the process by itself. */
export function onStopSignals(callback: (signal: StopSignal) => void): () => void {
  for (const signal of SIGNALS) process.on(signal, callback);
  return () => {
    for (const signal of SIGNALS) process.off(signal, callback);
  };
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
