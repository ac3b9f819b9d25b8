/** Writes down the decisions about a backlog: prd.json, progress.md, and the release of unused folders. */
import type { Backlog } from "../../core/backlog/backlog.ts";
import { type BacklogParts, describe, type EngineParts } from "../parts.ts";
import { isGenerating, isSamePlace, shownStories } from "./story-job.ts";

/** Writes one decision after the other. */
export class BacklogRecords {
  readonly #parts: EngineParts;
  readonly #backlogParts: BacklogParts;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: EngineParts, backlogParts: BacklogParts) {
    this.#parts = parts;
    this.#backlogParts = backlogParts;
  }

  add(before: Backlog, after: Backlog): void {
    this.#writing = this.#writing
      .then(() => writeDown(this.#backlogParts, before, after))
      .catch((error: unknown) => this.#parts.observe({ type: "problem", message: describe(error) }));
  }

  /** Resolves when everything is written. */
  written(): Promise<void> {
    return this.#writing;
  }
}

async function writeDown({ files, places }: BacklogParts, before: Backlog, after: Backlog): Promise<void> {
  const isFree = isGenerating(before) && !isGenerating(after);
  if (before.stories !== after.stories || isFree) await files.publish(shownStories(after));
  for (const receipt of after.receipts.slice(before.receipts.length)) {
    const story = after.stories.find(({ id }) => id === receipt.story);
    const isJudged = receipt.outcome === "passed" || receipt.outcome === "rejected";
    if (story !== undefined && isJudged) files.note(story, receipt, after.terms.skipEval);
  }
  const kept = [...after.places, ...after.attempts.flatMap(({ place }) => place ?? [])];
  for (const place of before.places) {
    if (!kept.some((each) => isSamePlace(each, place))) await places.release(place);
  }
}
