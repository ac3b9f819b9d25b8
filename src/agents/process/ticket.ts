/**
 * Who may start a turn, and how it ended. Owns these files in the run folder of a turn, one for each attempt (token):
 *
 *   ticket.<token>      who was first: the wrapper (its process) or a recovery (`void`, `lost`)
 *   exit.<token>        the exit code, written by the wrapper, complete with its newline
 *
 * and this file in the folder of the loop, synced only for the first turn of a token:
 *
 *   intent.<token>      on disk before any start: one line per boot in which a start was possible
 *
 * Must not start or stop a process, nor change an existing ticket.
 *
 * 1. A ticket is created once, by the first process. The agent starts only after its wrapper created the ticket.
 * 2. `void` is answered only for a ticket that says `void`, never for a torn or unreadable ticket.
 */
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProcessRef } from "../../core/loop.ts";
import { createOnce, fsyncDir, lookAt, readSmall, writeAtomic } from "../../system/files.ts";
import { bootId, isAlive, startFrom, startIfBy } from "../../system/process.ts";

export type Ticket =
  /** A recovery was first: the agent did not start and never will. */
  | { readonly kind: "void" }
  | { readonly kind: "torn"; readonly reason: string }
  | { readonly kind: "taken"; readonly process: ProcessRef; readonly at: number };

const HALF_WRITTEN = "the ticket of the turn is incomplete";

/** After this the turn may start. */
export function writeIntent(folder: string, token: number): void {
  const path = intentFile(folder, token);
  const boots = readSmall(path) ?? "";
  const boot = `${bootId() ?? ""}\n`;
  if (boots.includes(boot)) return;
  writeAtomic(path, boots + boot);
  const runs = dirname(dirname(path));
  for (const above of [runs, dirname(runs)]) fsyncDir(above);
}

/** Removes the oldest tokens. Their turns are settled. */
export function pruneIntents(loopFolder: string, keep: number): void {
  const tokens = readdirSync(loopFolder)
    .flatMap((name) => /^intent\.(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
  for (const token of tokens.slice(keep)) rmSync(join(loopFolder, `intent.${token}`), { force: true });
}

/** Takes the ticket if it is free, and returns its owner. */
export async function settleTicket(folder: string, token: number): Promise<Ticket> {
  const boots = readSmall(intentFile(folder, token))?.trim().split("\n") ?? [];
  const isSameBoot = boots.every((boot) => boot === (bootId() ?? ""));
  // After a power cut a ticket may be missing although the agent ran: only the intent is synced.
  createOnce(join(folder, `ticket.${token}`), isSameBoot ? "void\n" : "lost\n");
  // The wrapper writes the ticket a moment after it creates it. Attempts, not time, because of suspends.
  for (let attempt = 0; attempt < (isSameBoot ? 40 : 1); attempt++) {
    const ticket = readTicket(folder, token);
    if (ticket === null) throw new Error("the ticket cannot be read");
    if (ticket.kind !== "torn" || ticket.reason !== HALF_WRITTEN) return ticket;
    await new Promise((done) => setTimeout(done, 50));
  }
  return { kind: "torn", reason: HALF_WRITTEN };
}

/** Why the wrapper `pid` did not get the ticket; null: it got the ticket. */
export function describeRefusal(folder: string, token: number, pid: number): string | null {
  const ticket = readTicket(folder, token);
  if (ticket?.kind === "void") return "the turn was cancelled before it started";
  if (ticket?.kind !== "taken") return "the agent was not started: the run folder is not writable";
  return ticket.process.pid === pid ? null : "the turn was already started with the same token";
}

/** null: missing, or not complete yet. */
export function readExit(folder: string, token: number): number | null {
  const [, code] = /^(\d+)\n$/.exec(readSmall(join(folder, `exit.${token}`)) ?? "") ?? [];
  return code === undefined ? null : Number(code);
}

export function isRunning(folder: string): boolean {
  return readdirSync(folder).some((name) => {
    const [, digits] = /^ticket\.(\d+)$/.exec(name) ?? [];
    if (digits === undefined) return false;
    const ticket = readTicket(folder, Number(digits));
    return ticket?.kind === "taken" && readExit(folder, Number(digits)) === null && isAlive(ticket.process);
  });
}

function intentFile(folder: string, token: number): string {
  return join(dirname(folder), `intent.${token}`);
}

function readTicket(folder: string, token: number): Ticket | null {
  const path = join(folder, `ticket.${token}`);
  const text = readSmall(path);
  if (text === null) return null;
  if (text === "void\n") return { kind: "void" };
  if (text === "lost\n")
    return { kind: "torn", reason: "the machine stopped while the turn was being started" };
  const [, pid, boot = "", stat = ""] = /^pid (\d+)\nboot (.*)\nstat (.*)\nend\n$/.exec(text) ?? [];
  if (pid === undefined) return { kind: "torn", reason: HALF_WRITTEN };
  const at = lookAt(path).mtimeMs;
  const start = stat === "" ? startIfBy(Number(pid), at) : startFrom(boot, stat);
  return { kind: "taken", process: { pid: Number(pid), start }, at };
}
