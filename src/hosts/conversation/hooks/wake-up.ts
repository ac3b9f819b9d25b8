/** Wakes an idle conversation: the client starts a prompt, and its hook receives the turn that is due. */
import type { Seat } from "../seat.ts";

export interface Waking {
  /** Can anything wake this client's conversation now? */
  canWake(): boolean;
  /** Makes the client start a prompt that carries a new wake-up id. */
  call(what: string): void;
  /** Does a turn wait for this wake-up? */
  isPending(wake: string): boolean;
  /** Cancels the last wake-up. */
  settle(): void;
}

/** For a client that cannot be woken. */
export const NO_WAKING: Waking = {
  canWake: () => false,
  call: () => {},
  isPending: () => false,
  settle: () => {},
};

/** After this time the wake-up is sent again. */
const TAKEN_WITHIN_MS = 20_000;
const ATTEMPTS = 3;

/** Resolves with true when a hook of the woken conversation waits for the turn. */
export async function wakeUp(
  seat: Seat,
  waking: Waking,
  what: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
    // the person may have started to type since the decision
    await seat.watch(() => (seat.isWaiting || seat.record.state === "idle" ? true : null), signal);
    if (signal.aborted) return false;
    if (seat.isWaiting) return true;
    if (!waking.canWake()) return false;
    waking.call(what);
    const late = AbortSignal.any([signal, AbortSignal.timeout(TAKEN_WITHIN_MS)]);
    const isTaken = await seat.watch(() => (seat.isWaiting ? true : null), late);
    // another hook takes the turn: the wake-up on its way is out of date
    if (isTaken === true) {
      waking.settle();
      return true;
    }
  }
  // after an abort another process may still use the wake-up
  if (!signal.aborted) waking.settle();
  return false;
}
