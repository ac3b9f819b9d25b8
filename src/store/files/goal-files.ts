/**
 * The published files of goals: `.loop/state.json` (the newest goal, in the stop hook's format) and
 * `.loop/runs/<id>/{state.json,iterations.jsonl,summary.md}`. All of them are written from the journal. A change by
 * anybody else is only a claim: it is detected and overwritten.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Goal } from "../../core/goal/goal.ts";
import { renderReportMarkdown } from "../../core/text/goal/goal-report.ts";
import { viewGoal } from "../../core/views/goal-view.ts";
import { STATE_SCHEMA } from "../../core/views/schema-names.ts";
import { orNull, quarantine, readIfThere, writeAtomic } from "../../system/files.ts";
import { makeInside } from "../../system/inside.ts";
import { isSigned, renderSigned } from "../signed/signed-json.ts";
import type { Signer } from "../signed/signer.ts";

export class GoalFiles {
  readonly #dir: string;
  /** `state.json` of the newest goal. */
  readonly #state: string;
  readonly #say: (message: string) => void;
  readonly #published = new Map<string, number>();
  #signer: Signer | null = null;
  /** This process wrote the current state.json. */
  #isOurs = false;

  constructor(dir: string, say: (message: string) => void) {
    this.#dir = dir;
    this.#state = join(dir, "state.json");
    this.#say = say;
  }

  publish(goals: readonly Goal[], now: number, signer: Signer): void {
    this.#signer = signer;
    const newest = goals.toSorted((a, b) => a.createdAt - b.createdAt).at(-1);
    for (const goal of goals) {
      if (this.#published.get(goal.id) === goal.version || this.#isRemoved(goal)) continue;
      this.#publishRun(goal, signer);
      if (goal === newest) this.#publishState(goal, now, signer);
      this.#published.set(goal.id, goal.version);
    }
  }

  /** A person removed the run folder of an ended goal. */
  #isRemoved({ id, status }: Goal): boolean {
    return status === "ended" && !this.#published.has(id) && !existsSync(join(this.#dir, "runs", id));
  }

  wasStateEdited(): boolean {
    const text = this.#read();
    return this.#isOurs && (text === null || !isOurs(text, this.#signer));
  }

  #publishState(goal: Goal, now: number, signer: Signer): void {
    const text = this.#read();
    if (text !== null && !this.#isOurs && !isOurs(text, signer)) {
      const aside = quarantine(this.#state, now);
      this.#say(`state.json was not written by this program: moved to ${aside}.`);
    }
    writeAtomic(this.#state, renderState(goal, signer), isAtRest(goal));
    this.#isOurs = true;
  }

  #publishRun(goal: Goal, signer: Signer): void {
    const folder = join(this.#dir, "runs", goal.id);
    makeInside(dirname(this.#dir), folder);
    const lines = goal.receipts.map((receipt) => `${JSON.stringify(receipt)}\n`);
    const durable = isAtRest(goal);
    writeAtomic(join(folder, "state.json"), renderState(goal, signer), durable);
    writeAtomic(join(folder, "iterations.jsonl"), lines.join(""), durable);
    writeAtomic(join(folder, "summary.md"), renderReportMarkdown(goal), durable);
  }

  /** null: there is no file. */
  #read(): string | null {
    try {
      return readIfThere(this.#state);
    } catch {
      return "";
    }
  }
}

/** An active goal is published again soon, and after a crash from the journal, so its files need no fsync. */
function isAtRest({ status }: Goal): boolean {
  return status !== "active";
}

function renderState(goal: Goal, signer: Signer): string {
  return renderSigned(signer, "state.json", { $schema: STATE_SCHEMA, ...viewGoal(goal) });
}

function isOurs(text: string, signer: Signer | null): boolean {
  return isSigned(signer, "state.json", orNull(() => JSON.parse(text) as object | null) ?? {});
}
