/**
 * Publishes what people and other programs read: `tasks.json`, `state.json` with the files of each goal, and
 * `progress.json`. All are made from the journal.
 */
import { rmSync } from "node:fs";
import type { Goal } from "../../core/goal/goal.ts";
import type { Task } from "../../core/loop.ts";
import { progressOf } from "../../core/progress.ts";
import { LoopError } from "../../errors.ts";
import type { PublishedFiles } from "../../ports/published.ts";
import type { Store } from "../../ports/store.ts";
import { errorCode } from "../../system/files.ts";
import { GoalFiles } from "../files/goal-files.ts";
import { ProgressFile } from "../files/progress-file.ts";
import { tasksFileOf } from "../files/published-tasks.ts";
import {
  isPublished,
  quarantineTasksFile,
  readTasksFile,
  renderTasksFile,
  writeTasksFile,
} from "../files/tasks-file.ts";
import { cannotWrite } from "./loop-dir.ts";
import { lostTasks } from "./lost-tasks.ts";
import type { OpenedFolder } from "./opened-folder.ts";

/** What is published. */
type Shown = Pick<Store, "loops" | "lease">;

/** While a goal is at work, its progress is published this often. */
const PROGRESS_MS = 500;

export class FolderPublisher implements PublishedFiles {
  readonly #folder: OpenedFolder;
  readonly #shown: Shown;
  readonly #goalFiles: GoalFiles;
  readonly #progress: ProgressFile;
  #progressAt = 0;
  /** What tasks.json lists, as this process wrote it. */
  #publishedList: string | null = null;

  constructor(folder: OpenedFolder, shown: Shown) {
    this.#folder = folder;
    this.#shown = shown;
    this.#goalFiles = new GoalFiles(folder.dir, folder.say);
    this.#progress = new ProgressFile(folder.dir, folder.say);
  }

  wasStateEdited(): boolean {
    return this.#goalFiles.wasStateEdited();
  }

  /** `adopted`: the text of tasks.json whose requests were taken. One that was edited since stays for the next time. */
  async publish(adopted?: string): Promise<void> {
    const { dir, say } = this.#folder;
    try {
      this.#folder.claim();
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
    if (goals.length > 0) this.#goalFiles.publish(goals, this.#folder.now());
  }

  /** For status lines (D9), which look once a second at most. */
  #publishProgress(): void {
    const now = this.#folder.now();
    const goals = this.#goals();
    const isAtWork = goals.some(({ status }) => status === "active");
    if (isAtWork && Math.abs(now - this.#progressAt) < PROGRESS_MS) return;
    this.#progressAt = now;
    this.#progress.publish(progressOf({ tasks: this.#tasks(), goals, lease: this.#shown.lease(), now }));
  }

  /** `left`: it waits to be adopted. `overtaken`: somebody wrote it in between. */
  #publishOnce(adopted: string | undefined): "written" | "left" | "overtaken" {
    const { dir, journal } = this.#folder;
    const now = this.#folder.now();
    journal.catchUp();
    const there = readTasksFile(dir);
    const isTaken = there.text !== null && there.text === adopted;
    if (there.kind === "edited" && !isTaken) return "left";
    // The journal was taken away or damaged: what was published is the last that is known of some tasks.
    const isLost = lostTasks(this.#folder).length > 0;
    if (isLost && !isTaken) return "left";
    if (there.kind === "damaged") this.#moveAside(now);
    const before = there.kind === "damaged" ? null : there.text;
    const list = this.#listKey();
    const text = renderTasksFile(tasksFileOf(this.#folder, this.#shown, now));
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
    const versions = this.#tasks().map(({ id, version }) => [id, version]);
    return JSON.stringify([this.#shown.lease()?.token, versions]);
  }

  #tasks(): readonly Task[] {
    return [...this.#shown.loops()].filter((loop) => loop.kind === "task");
  }

  #goals(): readonly Goal[] {
    return [...this.#shown.loops()].filter((loop) => loop.kind === "goal");
  }

  #moveAside(now: number): void {
    const { dir, say } = this.#folder;
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
    const { journal } = this.#folder;
    const { generation, bytes } = journal.position;
    journal.catchUp();
    const now = journal.position;
    return now.generation !== generation || now.bytes !== bytes;
  }
}
