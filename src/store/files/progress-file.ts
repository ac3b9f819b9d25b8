/**
 * `.loop/progress.json` (D9): the progress of the project, for status lines. The engine decides nothing from it. A write
 * error is reported once, and the next change writes the file again.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { isBacklogLine } from "../../core/views/line.ts";
import type {
  GoalProgress,
  LeaseProgress,
  Progress,
  ShownPhase,
  TasksProgress,
} from "../../core/views/progress.ts";
import { PROGRESS_SCHEMA } from "../../core/views/schema-names.ts";
import { orNull, readSmallFile, writeAtomic } from "../../system/files.ts";
import { isAmount } from "../ledger/ledger-line.ts";

interface StoredProgress extends Progress {
  /** The inode of the folder. It does not match in a clone or a copy. */
  readonly folder: number;
}

const MAX_BYTES = 256 * 1024;
const ID = /^[0-9a-f]{8}$/;

export class ProgressFile {
  readonly #dir: string;
  readonly #say: (message: string) => void;
  #said: string | null = null;

  constructor(dir: string, say: (message: string) => void) {
    this.#dir = dir;
    this.#say = say;
  }

  /** Writes only news. Does not throw. */
  publish(progress: Progress): void {
    try {
      const path = progressPath(this.#dir);
      const stored: StoredProgress = { ...progress, folder: statSync(this.#dir).ino };
      const text = `${JSON.stringify(stored, null, 2)}\n`;
      const there = readSmallFile(path, MAX_BYTES);
      if (there === null || withoutMoment(there) !== withoutMoment(text)) writeAtomic(path, text, false);
      this.#said = null;
    } catch (error) {
      this.#complain(`Cannot write ${progressPath(this.#dir)}: ${String(error)}.`);
    }
  }

  #complain(message: string): void {
    // the message names a temporary file, which has another name each time
    const kind = message.replaceAll(/'[^']*'/g, "");
    if (this.#said !== kind) this.#say(message);
    this.#said = kind;
  }
}

/** null: this program did not write the file in this folder. Validated by hand, because zod is too slow to load here. */
export function readProgress(dir: string): Progress | null {
  return orNull(() => {
    const stored: unknown = JSON.parse(readSmallFile(progressPath(dir), MAX_BYTES) ?? "null");
    return isStored(stored) && stored.folder === statSync(dir).ino ? stored : null;
  });
}

function progressPath(dir: string): string {
  return join(dir, "progress.json");
}

function withoutMoment(text: string): string {
  return text.replace(/^ {2}"at": .*$/m, "");
}

type Unknown<T> = { readonly [K in keyof T]?: unknown };

function isStored(value: unknown): value is StoredProgress {
  if (!isObject(value)) return false;
  const { $schema, version, tasks, goal, otherGoals, backlogs, lease, folder }: Unknown<StoredProgress> =
    value;
  return (
    $schema === PROGRESS_SCHEMA &&
    version === 1 &&
    typeof folder === "number" &&
    isTasks(tasks) &&
    (goal === null || isGoal(goal)) &&
    Array.isArray(otherGoals) &&
    otherGoals.every(isGoal) &&
    Array.isArray(backlogs) &&
    backlogs.every(isBacklogLine) &&
    (lease === null || isLease(lease))
  );
}

function isTasks(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { live, paused, missed }: Unknown<TasksProgress> = value;
  return [live, paused, missed].every(isCount);
}

function isGoal(value: unknown): boolean {
  if (!isObject(value)) return false;
  const goal: Unknown<GoalProgress> = value;
  const numbers = [
    goal.iteration,
    goal.iterations,
    goal.criteriaMet,
    goal.criteriaTotal,
    goal.unpriced,
    goal.tokens,
  ];
  const texts = [goal.step, goal.pauseReason, goal.gate, goal.waitUntil, goal.endedAt, goal.session];
  return (
    typeof goal.id === "string" &&
    ID.test(goal.id) &&
    (goal.status === "active" || goal.status === "paused" || goal.status === "ended") &&
    PHASES.has(goal.phase) &&
    numbers.every(isCount) &&
    isAmount(goal.budgetUsd) &&
    (goal.costUsd === null || isAmount(goal.costUsd)) &&
    texts.every((text) => text === null || typeof text === "string")
  );
}

const PHASES: ReadonlySet<unknown> = new Set<ShownPhase>([
  "surveying",
  "planning",
  "pre-checking",
  "working",
  "checking",
  "waiting for you",
  "sleeping",
  "ready",
  "paused",
  "done",
  "cancelled",
  "failed",
]);

function isLease(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { owner, pid, procStart, host, token, acquiredAt }: Unknown<LeaseProgress> = value;
  return (
    typeof owner === "string" &&
    typeof host === "string" &&
    (procStart === null || typeof procStart === "string") &&
    isCount(pid) &&
    isCount(token) &&
    isAmount(acquiredAt)
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
