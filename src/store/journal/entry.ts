/**
 * One line of the journal: JSON whose last keys are a checksum of everything before it, and a signature. A torn, merged
 * or damaged line fails the checksum and does not count. A line that this user did not sign is foreign.
 */
import type { Effect, LoopEvent, Outcome } from "../../core/event.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { isPhase } from "../../core/goal/phase.ts";
import type { Loop, LoopId, Task } from "../../core/loop.ts";
import { surroundingsError } from "../../errors.ts";
import type { Lease } from "../../ports/lease.ts";
import type { Commit } from "../../ports/loops.ts";
import { orNull } from "../../system/files.ts";
import { SIGNATURE_LENGTH, type Signer } from "../signed/signer.ts";
import { checksum } from "./checksum.ts";
import { upgradeLoop } from "./upgrade.ts";

/**
 * 2: goals have a phase. An older program would read such a goal as not approved, so it must refuse the journal.
 * 3: lines are signed. An older program would write lines that do not count.
 */
export const JOURNAL_VERSION = 3;

interface Common {
  readonly v: number;
  readonly at: number;
  /** Writer and sequence number, by which a writer recognises its own line. */
  readonly w: string;
}

export type LoopEntry = Common & {
  readonly type: "loop";
  readonly id: LoopId;
  readonly ver: number;
  readonly token: number | null;
  readonly max?: number;
  readonly event: LoopEvent;
  readonly effects: readonly Effect[];
  readonly outcomes: readonly Outcome[];
  readonly loop: Loop;
};
type LeaseEntry = Common & { readonly type: "lease"; readonly lease: Lease };
type ReleaseEntry = Common & { readonly type: "release"; readonly token: number };
/** The last line of a segment: later lines in the same file do not count. */
type SealEntry = Common & { readonly type: "seal" };
/** The first line of every segment except the first segment. */
export type SnapshotEntry = Common & {
  readonly type: "snapshot";
  readonly lastToken: number;
  readonly lease: Lease | null;
  readonly loops: readonly Loop[];
};

export type Entry = LoopEntry | LeaseEntry | ReleaseEntry | SealEntry | SnapshotEntry;
export type NewEntry<E = Entry> = E extends Entry ? Omit<E, "v" | "w"> : never;

export function commitLine(commit: Commit): Omit<LoopEntry, "v" | "w"> {
  const { id, loop, event, effects, outcomes, at, token, expectedVersion, maxLive } = commit;
  const max = maxLive === undefined ? {} : { max: maxLive };
  return { type: "loop", at, id, ver: expectedVersion + 1, token, ...max, event, effects, outcomes, loop };
}

const TYPES: ReadonlySet<string> = new Set<Entry["type"]>(["loop", "lease", "release", "seal", "snapshot"]);

const SUM_LENGTH = ',"sum":"00000000"'.length;
const SIGNATURE_START = ',"sig":"';
const SIGNATURE_END = SIGNATURE_START.length + SIGNATURE_LENGTH + '"}'.length;

export function encodeEntry(entry: Entry, signer: Signer): string {
  return `${signBody(JSON.stringify(entry).slice(0, -1), signer)}\n`;
}

function signBody(body: string, signer: Signer): string {
  const summed = `${body},"sum":"${checksum(body)}"`;
  return `${summed}${SIGNATURE_START}${signer.sign("journal", summed)}"}`;
}

/** The same line with another signature; null: the line is damaged. */
export function signAgain(line: string, signer: Signer): string | null {
  const { body } = splitLine(line);
  return isIntact(line, body) ? signBody(body, signer) : null;
}

export type Decoded = Entry | "damaged" | "foreign";

/** `signer` null: every line counts that is not damaged. Only for a folder from which nothing runs. */
export function decodeEntry(line: string, signer: Signer | null): Decoded {
  const { body, summed, signature } = splitLine(line);
  if (signer === null || !signer.isOurs("journal", summed, signature)) {
    if (!isIntact(line, body)) return "damaged";
    if (signer !== null) return "foreign";
  }
  return parseEntry(line) ?? "damaged";
}

interface SplitLine {
  readonly body: string;
  /** The body with its checksum, which the signature covers. */
  readonly summed: string;
  /** null: a line of an earlier version. */
  readonly signature: string | null;
}

function splitLine(line: string): SplitLine {
  const isSigned = line.startsWith(SIGNATURE_START, line.length - SIGNATURE_END);
  const summed = isSigned ? line.slice(0, -SIGNATURE_END) : line.slice(0, -1);
  const signature = isSigned ? line.slice(-SIGNATURE_LENGTH - 2, -2) : null;
  return { body: summed.slice(0, -SUM_LENGTH), summed, signature };
}

function isIntact(line: string, body: string): boolean {
  return line.startsWith(`,"sum":"${checksum(body)}"`, body.length);
}

function parseEntry(line: string): Entry | null {
  const entry = orNull(() => JSON.parse(line) as Entry | null);
  // a valid checksum does not prove a valid shape: anybody can compute a checksum
  if (typeof entry?.v !== "number") return null;
  if (entry.v > JOURNAL_VERSION)
    throw surroundingsError(
      `The journal was written by a newer version of loopwright (format ${entry.v}; this one reads up to ${JOURNAL_VERSION}).`,
      "Update loopwright.",
    );
  return TYPES.has(entry.type) && isSound(entry) ? upgrade(entry) : null;
}

const ID = /^[0-9a-f]{8}$/;
const STATUSES: ReadonlySet<unknown> = new Set<Loop["status"]>(["active", "paused", "missed", "ended"]);
const CADENCES: ReadonlySet<unknown> = new Set<Task["cadence"]["kind"]>(["cron", "every", "once", "paced"]);

/** Checks only what the reader depends on, because it runs for every line. */
function isSound(entry: Entry): boolean {
  switch (entry.type) {
    case "loop":
      return (
        isLoop(entry.loop) &&
        entry.loop.id === entry.id &&
        typeof entry.ver === "number" &&
        typeof entry.event?.type === "string" &&
        Array.isArray(entry.outcomes)
      );
    case "snapshot":
      return typeof entry.lastToken === "number" && Array.isArray(entry.loops) && entry.loops.every(isLoop);
    case "lease":
      return typeof entry.lease?.token === "number";
    case "release":
      return typeof entry.token === "number";
    case "seal":
      return true;
  }
}

function isLoop(loop: Loop | null | undefined): boolean {
  return (
    typeof loop?.id === "string" &&
    ID.test(loop.id) &&
    typeof loop.version === "number" &&
    STATUSES.has(loop.status) &&
    isSoundKind(loop)
  );
}

function isSoundKind(loop: Loop): boolean {
  switch (loop.kind) {
    case "goal":
      return isGoal(loop);
    case "backlog":
      return (
        [loop.stories, loop.attempts, loop.receipts].every(Array.isArray) && typeof loop.terms === "object"
      );
    default:
      return CADENCES.has(loop.cadence?.kind);
  }
}

function isGoal(goal: Goal): boolean {
  const lists = [goal.criteria, goal.mustNot, goal.steps, goal.receipts, goal.remarks, goal.accepted];
  const records = [goal.limits, goal.spent, goal.policy, goal.evidence, goal.breakers, goal.agent];
  return (
    typeof goal.spec === "string" &&
    // `upgrade` adds a missing phase
    (goal.phase === undefined || isPhase(goal.phase)) &&
    lists.every(Array.isArray) &&
    records.every((record) => typeof record === "object" && record !== null)
  );
}

function upgrade(entry: Entry): Entry {
  if (entry.type === "loop") return { ...entry, loop: upgradeLoop(entry.loop) };
  return entry.type === "snapshot" ? { ...entry, loops: entry.loops.map(upgradeLoop) } : entry;
}
