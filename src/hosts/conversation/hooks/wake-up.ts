/** Waking an idle conversation, so that a hook comes and can be answered with the turn that is due. */
import type { Seat } from "../seat.ts";

/** How a client can be woken. */
export interface Waking {
  /** Is there somebody who can wake this client's conversation? */
  canWake(): boolean;
  /** Makes the client begin a prompt, which names a wake-up of its own. */
  call(what: string): void;
  /** Is this the wake-up that a turn waits for? */
  isPending(wake: string): boolean;
  /** Nobody waits for the wake-up that was called last. */
  settle(): void;
}

/** Of a client that cannot be woken. */
export const NO_WAKING: Waking = {
  canWake: () => false,
  call: () => {},
  isPending: () => false,
  settle: () => {},
};

/** A wake-up that was not taken by then is given once more. */
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
    // Somebody may have begun to talk since this was intended.
    await seat.watch(() => (seat.isWaiting || seat.record.state === "idle" ? true : null), signal);
    if (signal.aborted) return false;
    if (seat.isWaiting) return true;
    if (!waking.canWake()) return false;
    waking.call(what);
    const late = AbortSignal.any([signal, AbortSignal.timeout(TAKEN_WITHIN_MS)]);
    const isTaken = await seat.watch(() => (seat.isWaiting ? true : null), late);
    // taken by another hook: the prompt that is on its way is for nothing any more
    if (isTaken === true) {
      waking.settle();
      return true;
    }
  }
  // Cut off, it may be that another process takes it up.
  if (!signal.aborted) waking.settle();
  return false;
}
