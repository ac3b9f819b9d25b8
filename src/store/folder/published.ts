/**
 * Publishes what people and other programs read: `tasks.json`, `state.json` with the files of each goal, and
 * `progress.json`. All are made from the journal.
 */
import { rmSync } from "node:fs";
import type { Goal } from "../../core/goal/goal.ts";
import { progressOf } from "../../core/progress.ts";
import { LoopError } from "../../errors.ts";
import type { PublishedFiles } from "../../ports/published.ts";
import { errorCode } from "../../system/files.ts";
import { GoalFiles } from "../files/goal-files.ts";
import { ProgressFile } from "../files/progress-file.ts";
import { type Publishable, tasksFileOf } from "../files/published-tasks.ts";
import {
  isPublished,
  quarantineTasksFile,
  readTasksFile,
  renderTasksFile,
  writeTasksFile,
} from "../files/tasks-file.ts";
import type { Journal } from "../journal/journal.ts";
import { cannotWrite } from "./loop-dir.ts";
import { lostTasks } from "./lost-tasks.ts";

export interface PublisherParts extends Publishable {
  readonly journal: Journal;
  /** Throws the sentence where nothing may be written. */
  claim(): void;
  now(): number;
  say(message: string): void;
}

/** While a goal is at work, its progress is published this often. */
const PROGRESS_MS = 500;

export class FolderPublisher implements PublishedFiles {
  readonly #parts: PublisherParts;
  readonly #goalFiles: GoalFiles;
  readonly #progress: ProgressFile;
  #progressAt = 0;
  /** What tasks.json lists, as this process wrote it. */
  #publishedList: string | null = null;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
    this.#goalFiles = new GoalFiles(parts.dir, parts.say);
    this.#progress = new ProgressFile(parts.dir, parts.say);
  }

  wasStateEdited(): boolean {
    return this.#goalFiles.wasStateEdited();
  }

  /** `adopted`: the text of tasks.json whose requests were taken. One that was edited since stays for the next time. */
  async publish(adopted?: string): Promise<void> {
    const { dir, claim, say } = this.#parts;
    try {
      claim();
      this.#publishGoals();
      this.#publishProgress();
      if (adopted === undefined && this.#isListPublished()) return;
      for (let round = 0; round < 10; round++) {
        const result = this.#publishOnce(adopted);
        this.#publishProgress();
        // Two that publish at once: whoever writes last looks once more, so that the newest state stands.
        if (result === "left" || (result === "written" && !this.#hasNews())) return;
      }
    } catch (error) {
      const sentence = error instanceof LoopError ? error : cannotWrite(`${dir}/tasks.json`, error);
      say(sentence.message);
    }
  }

  #publishGoals(): void {
    const goals = this.#goals();
    if (goals.length > 0) this.#goalFiles.publish(goals, this.#parts.now());
  }

  /** For status lines (D9), which look once a second at most. */
  #publishProgress(): void {
    const { loops, lease, now } = this.#parts;
    const goals = this.#goals();
    const isAtWork = goals.some(({ status }) => status === "active");
    if (isAtWork && Math.abs(now() - this.#progressAt) < PROGRESS_MS) return;
    this.#progressAt = now();
    const tasks = [...loops()].filter((loop) => loop.kind === "task");
    this.#progress.publish(progressOf({ tasks, goals, lease: lease(), now: now() }));
  }

  /** `left`: it waits to be adopted. `overtaken`: somebody wrote it in between. */
  #publishOnce(adopted: string | undefined): "written" | "left" | "overtaken" {
    const { dir, journal } = this.#parts;
    const now = this.#parts.now();
    journal.catchUp();
    const there = readTasksFile(dir);
    const isTaken = there.text !== null && there.text === adopted;
    if (there.kind === "edited" && !isTaken) return "left";
    // The journal was taken away or damaged: what was published is the last that is known of some tasks.
    const isLost = lostTasks(dir, journal).length > 0;
    if (isLost && !isTaken) return "left";
    if (there.kind === "damaged") this.#moveAside(now);
    const before = there.kind === "damaged" ? null : there.text;
    const list = this.#listKey();
    const text = renderTasksFile(tasksFileOf(this.#parts, now));
    const isWritten = writeTasksFile(
      dir,
      text,
      now,
      (now) => now.kind !== "damaged" && (now.text === before || (now.kind === "published" && !isLost)),
    );
    if (isWritten) this.#publishedList = list;
    return isWritten ? "written" : "overtaken";
  }

  /**
   * A goal at work writes to the journal all the time, and next to nothing of that is in tasks.json. It is left as it
   * is until a task changes, or the goal comes to rest; who lists meanwhile reads the journal.
   */
  #isListPublished(): boolean {
    const isAtWork = this.#goals().some(({ status }) => status === "active");
    return isAtWork && this.#publishedList === this.#listKey();
  }

  #listKey(): string {
    const { loops, lease } = this.#parts;
    const tasks = [...loops()].filter((loop) => loop.kind === "task");
    return JSON.stringify([lease()?.token, tasks.map(({ id, version }) => [id, version])]);
  }

  #goals(): readonly Goal[] {
    return [...this.#parts.loops()].filter((loop) => loop.kind === "goal");
  }

  #moveAside(now: number): void {
    const { dir, say } = this.#parts;
    let aside: string;
    try {
      aside = quarantineTasksFile(dir, now);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return;
      throw error;
    }
    // Another process was faster with the damaged file, and this is the one that it published.
    if (isPublished(aside)) rmSync(aside);
    else say(`tasks.json did not parse: moved to ${aside} and written anew from the journal.`);
  }

  #hasNews(): boolean {
    const { journal } = this.#parts;
    const { generation, bytes } = journal.position;
    journal.catchUp();
    const now = journal.position;
    return now.generation !== generation || now.bytes !== bytes;
  }
}
