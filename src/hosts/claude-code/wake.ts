/**
 * Waking an idle conversation. The plugin's monitor is a process of the client whose lines wake it; the process that
 * leads writes such a line into a spool file, and the monitor hands it on. The line names the wake-up, not what is to
 * be done: lines are cut at 500 characters, and the prompt that the client makes of it is answered with the turn.
 *
 * Owns `.loop/sessions/wake-<client>` (the spool), `monitor-<client>` (the monitor's process) and `pending-<client>`
 * (the wake-up that a turn waits for).
 */
import { randomBytes } from "node:crypto";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ProcessRef } from "../../core/base.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { ensureSessions } from "../../store/folder/session-records.ts";
import { readIfThere, readSmall, writeAtomic } from "../../system/files.ts";
import { isAlive } from "../../system/process.ts";
import type { Seat } from "../conversation/seat.ts";

/** A wake-up that was not taken by then is given once more. */
const TAKEN_WITHIN_MS = 20_000;
const ATTEMPTS = 3;
const MARK = /\[wake ([0-9a-f]{12})\]/;

export function spoolPath(dir: string, client: number): string {
  return join(dir, "sessions", `wake-${client}`);
}

export function registerMonitor(dir: string, client: number, monitor: ProcessRef): void {
  ensureSessions(dir);
  writeAtomic(monitorPath(dir, client), `${JSON.stringify(monitor)}\n`, false);
}

/** Is there somebody who can wake this client's conversation? */
export function hasMonitor(dir: string, client: number): boolean {
  try {
    const text = readIfThere(monitorPath(dir, client));
    return text !== null && isAlive(JSON.parse(text) as ProcessRef);
  } catch {
    return false;
  }
}

/** Of a prompt that the client made of a line of ours; null: it is somebody else's. */
export function wakeIn(prompt: string): string | null {
  return prompt.startsWith("<task-notification>") ? (MARK.exec(prompt)?.[1] ?? null) : null;
}

export class Waker {
  readonly #dir: string;
  readonly #client: number;
  readonly #seat: Seat;

  constructor(dir: string, client: number, seat: Seat) {
    this.#dir = dir;
    this.#client = client;
    this.#seat = seat;
  }

  /** Is this the wake-up that a turn waits for? */
  isPending(wake: string): boolean {
    return readSmall(pendingPath(this.#dir, this.#client))?.trim() === wake;
  }

  /** Resolves with true when a hook of the woken conversation waits for the turn. */
  async wake(what: string, signal: AbortSignal): Promise<boolean> {
    const seat = this.#seat;
    for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
      // Somebody may have begun to talk since this was intended.
      await seat.watch(() => (seat.isWaiting || seat.record.state === "idle" ? true : null), signal);
      if (signal.aborted) return false;
      if (seat.isWaiting) return true;
      if (!hasMonitor(this.#dir, this.#client)) return false;
      this.#call(what);
      const late = AbortSignal.any([signal, AbortSignal.timeout(TAKEN_WITHIN_MS)]);
      const isTaken = await seat.watch(() => (seat.isWaiting ? true : null), late);
      // taken by another hook: the line that is on its way is for nothing any more
      if (isTaken === true) {
        this.settle();
        return true;
      }
    }
    // Cut off, it may be that another process takes it up.
    if (!signal.aborted) this.settle();
    return false;
  }

  settle(): void {
    rmSync(pendingPath(this.#dir, this.#client), { force: true });
  }

  #call(what: string): void {
    const wake = randomBytes(6).toString("hex");
    ensureSessions(this.#dir);
    // on disk: the hook that the client asks may be a process of its own
    writeAtomic(pendingPath(this.#dir, this.#client), `${wake}\n`, false);
    const line = `Loopwright: ${cleanLine(what).slice(0, 200)} [wake ${wake}]\n`;
    appendFileSync(spoolPath(this.#dir, this.#client), line, { mode: 0o600 });
  }
}

function pendingPath(dir: string, client: number): string {
  return join(dir, "sessions", `pending-${client}`);
}

function monitorPath(dir: string, client: number): string {
  return join(dir, "sessions", `monitor-${client}`);
}
