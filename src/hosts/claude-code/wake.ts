/**
 * Wakes an idle conversation. The plugin's monitor is a process of the client, and each line that it prints wakes the
 * client. The leading process writes a line into a spool file and the monitor prints it. The line holds only the
 * wake-up id, because the client cuts lines at 500 characters. The hook of the new prompt is answered with the turn.
 *
 * Owns `.loop/sessions/wake-<client>` (the spool), `monitor-<client>` (the monitor's process) and `pending-<client>`
 * (the wake-up that a turn waits for).
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { ProcessRef } from "../../core/base.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { ensureSessions } from "../../store/folder/session-records.ts";
import { appendTo, readIfThere, readSmall, writeAtomic } from "../../system/files.ts";
import { isAlive } from "../../system/process.ts";
import type { Waking } from "../conversation/hooks/wake-up.ts";

const MARK = /\[wake ([0-9a-f]{12})\]/;

export const spoolPath = pathFor("wake");
const pendingPath = pathFor("pending");
const monitorPath = pathFor("monitor");

export function registerMonitor(dir: string, client: number, monitor: ProcessRef): void {
  ensureSessions(dir);
  writeAtomic(monitorPath(dir, client), `${JSON.stringify(monitor)}\n`, false);
}

/** Is a monitor running that can wake this client's conversation? */
export function hasMonitor(dir: string, client: number): boolean {
  try {
    const text = readIfThere(monitorPath(dir, client));
    return text !== null && isAlive(JSON.parse(text) as ProcessRef);
  } catch {
    return false;
  }
}

/** The wake-up id in a prompt that the client made from our line; null: another prompt. */
export function wakeIn(prompt: string): string | null {
  return prompt.startsWith("<task-notification>") ? (MARK.exec(prompt)?.[1] ?? null) : null;
}

/** `client`: the pid of the client. */
export function wakingBy(dir: string, client: number): Waking {
  const pending = pendingPath(dir, client);
  return {
    canWake: () => hasMonitor(dir, client),
    isPending: (wake) => readSmall(pending)?.trim() === wake,
    settle: () => rmSync(pending, { force: true }),
    call: (what) => {
      const wake = randomBytes(6).toString("hex");
      ensureSessions(dir);
      // on disk, because the hook may run in another process
      writeAtomic(pending, `${wake}\n`, false);
      const line = `Loopwright: ${cleanLine(what).slice(0, 200)} [wake ${wake}]\n`;
      appendTo(spoolPath(dir, client), line);
    },
  };
}

function pathFor(name: string): (dir: string, client: number) => string {
  return (dir, client) => join(dir, "sessions", `${name}-${client}`);
}
