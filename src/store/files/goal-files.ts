/**
 * What is published of goals: `.loop/state.json` (the newest goal, in the shape that the seed's stop hook read) and
 * `.loop/runs/<id>/{state.json,iterations.jsonl,summary.md}`. All of it is written anew from the journal. What
 * anybody else writes there is a claim at best: it is noticed, and written over.
 */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Goal } from "../../core/goal/goal.ts";
import { renderReportMarkdown } from "../../core/text/goal/goal-report.ts";
import { viewGoal } from "../../core/views/goal-view.ts";
import { STATE_SCHEMA } from "../../core/views/schema-names.ts";
import { quarantine, readIfThere, writeAtomic } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { checksum } from "../journal/checksum.ts";

export class GoalFiles {
  readonly #dir: string;
  readonly #say: (message: string) => void;
  readonly #published = new Map<string, number>();
  /** The state that stands in state.json was written by this process. */
  #isOurs = false;

  constructor(dir: string, say: (message: string) => void) {
    this.#dir = dir;
    this.#say = say;
  }

  publish(goals: readonly Goal[], now: number): void {
    const newest = goals.toSorted((a, b) => a.createdAt - b.createdAt).at(-1);
    for (const goal of goals) {
      if (this.#published.get(goal.id) === goal.version || this.#isRemoved(goal)) continue;
      this.#publishRun(goal);
      if (goal === newest) this.#publishState(goal, now);
      this.#published.set(goal.id, goal.version);
    }
  }

  /** A person did not want to keep what is left of a goal that has ended. */
  #isRemoved({ id, status }: Goal): boolean {
    return status === "ended" && !this.#published.has(id) && !existsSync(join(this.#dir, "runs", id));
  }

  /** Did somebody else write into state.json since it was published? */
  wasStateEdited(): boolean {
    const text = this.#read();
    return this.#isOurs && (text === null || !isSummed(text));
  }

  #publishState(goal: Goal, now: number): void {
    const text = this.#read();
    if (text !== null && !this.#isOurs && !isSummed(text)) {
      const aside = quarantine(this.#path(), now);
      this.#say(`state.json was not written by this program: moved to ${aside}.`);
    }
    writeAtomic(this.#path(), renderState(goal), isAtRest(goal));
    this.#isOurs = true;
  }

  #publishRun(goal: Goal): void {
    const folder = join(this.#dir, "runs", goal.id);
    for (const path of [dirname(folder), folder]) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      if (!isInside(dirname(this.#dir), path)) throw new Error(`${path} leads out of the project`);
    }
    const lines = goal.receipts.map((receipt) => `${JSON.stringify(receipt)}\n`);
    const durable = isAtRest(goal);
    writeAtomic(join(folder, "state.json"), renderState(goal), durable);
    writeAtomic(join(folder, "iterations.jsonl"), lines.join(""), durable);
    writeAtomic(join(folder, "summary.md"), renderReportMarkdown(goal), durable);
  }

  #path(): string {
    return join(this.#dir, "state.json");
  }

  /** null: nothing there that could be read as a file. */
  #read(): string | null {
    try {
      return readIfThere(this.#path());
    } catch {
      return "";
    }
  }
}

/** While it works it is published again in a moment, and after a crash from the journal. */
function isAtRest({ status }: Goal): boolean {
  return status !== "active";
}

function renderState(goal: Goal): string {
  const view = { $schema: STATE_SCHEMA, ...viewGoal(goal) };
  return `${JSON.stringify({ ...view, sum: checksum(JSON.stringify(view)) }, null, 2)}\n`;
}

function isSummed(text: string): boolean {
  try {
    const { sum, ...view } = JSON.parse(text) as Record<string, unknown>;
    return sum === checksum(JSON.stringify(view));
  } catch {
    return false;
  }
}
