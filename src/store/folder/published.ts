/**
 * Publishes files for people and other programs, all from the journal: `tasks.json`, `state.json` with the files of each
 * goal, and `progress.json`.
 */
import { rmSync, statSync } from "node:fs";
import { lineOfBacklog, lineOfGoal } from "../../core/views/lines.ts";
import { iso } from "../../core/views/moment.ts";
import { progressOf } from "../../core/views/progress.ts";
import { TASKS_SCHEMA } from "../../core/views/schema-names.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { LoopError } from "../../errors.ts";
import type { PublishedFiles } from "../../ports/published.ts";
import type { Store } from "../../ports/store.ts";
import { nullOn } from "../../system/files.ts";
import { localZone } from "../../system/time-zone.ts";
import { GoalFiles } from "../files/goal-files.ts";
import { ProgressFile } from "../files/progress-file.ts";
import {
  quarantineTasksFile,
  readTasksFile,
  readTasksFileAt,
  renderTasksFile,
  type TasksFile,
  writeTasksFile,
} from "../files/tasks-file.ts";
import type { Signer } from "../signed/signer.ts";
import { cannotWrite } from "./loop-dir.ts";
import { lostTasks } from "./lost-tasks.ts";
import type { OpenedFolder } from "./opened-folder.ts";

type Shown = Pick<Store, "loops" | "lease">;

/** The shortest time between two publications of the progress of an active goal. */
const PROGRESS_MS = 500;

export class FolderPublisher implements PublishedFiles {
  readonly #folder: OpenedFolder;
  readonly #shown: Shown;
  readonly #goalFiles: GoalFiles;
  readonly #progress: ProgressFile;
  #progressAt = 0;
  /** A key of the list that this process last wrote to tasks.json. */
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

  /** `adopted`: the text of tasks.json whose requests were carried out. A newer edit stays for the next time. */
  async publish(adopted?: string): Promise<void> {
    const { dir, say } = this.#folder;
    try {
      const signer = this.#folder.claim();
      this.#goalFiles.publish(
        [...this.#shown.loops()].filter((loop) => loop.kind === "goal"),
        this.#folder.now(),
        signer,
      );
      this.#publishProgress();
      if (adopted === undefined && this.#isListPublished()) return;
      for (let round = 0; round < 10; round++) {
        const result = this.#publishOnce(adopted, signer);
        this.#publishProgress();
        // two processes may publish at once: the last writer looks again, so that the newest state stays
        if (result === "left" || (result === "written" && !this.#hasNews())) return;
      }
    } catch (error) {
      const sentence = error instanceof LoopError ? error : cannotWrite(`${dir}/tasks.json`, error);
      say(sentence.message);
    }
  }

  /** For status lines (D9), which read once a second at most. */
  #publishProgress(): void {
    const now = this.#folder.now();
    if (this.#isAtWork() && Math.abs(now - this.#progressAt) < PROGRESS_MS) return;
    this.#progressAt = now;
    this.#progress.publish(progressOf(this.#shown.loops(), this.#shown.lease(), now));
  }

  /** `left`: the file has requests that nobody carried out yet. `overtaken`: somebody wrote the file meanwhile. */
  #publishOnce(adopted: string | undefined, signer: Signer): "written" | "left" | "overtaken" {
    const { dir, journal } = this.#folder;
    const now = this.#folder.now();
    journal.catchUp();
    const there = readTasksFile(dir, signer);
    const isTaken = there.text !== null && there.text === adopted;
    if (there.kind === "edited" && !isTaken) return "left";
    // the journal was removed, cut or damaged, so the published file is the last record of some tasks
    const isLost = lostTasks(this.#folder).length > 0;
    if ((isLost && !isTaken) || journal.held.size > 0) return "left";
    if (there.kind === "damaged") this.#moveAside(now, signer);
    const before = there.kind === "damaged" ? null : there.text;
    const list = this.#listKey();
    const text = renderTasksFile({ ...tasksFileOf(this.#folder, this.#shown, now), mark: signer.id }, signer);
    const isWritten = writeTasksFile(dir, text, now, () => {
      const { kind, text } = readTasksFile(dir, signer);
      return kind !== "damaged" && (text === before || (kind === "published" && !isLost));
    });
    if (isWritten) this.#publishedList = list;
    return isWritten ? "written" : "overtaken";
  }

  /**
   * An active goal or backlog writes to the journal all the time, but changes almost nothing in tasks.json. So the file
   * is not rewritten until a task changes or the loop stops. Meanwhile `loop list` reads the journal.
   */
  #isListPublished(): boolean {
    return this.#isAtWork() && this.#publishedList === this.#listKey();
  }

  #isAtWork(): boolean {
    return [...this.#shown.loops()].some(({ kind, status }) => kind !== "task" && status === "active");
  }

  #listKey(): string {
    const tasks = [...this.#shown.loops()].filter(({ kind }) => kind === "task");
    const versions = tasks.map(({ id, version }) => [id, version]);
    return JSON.stringify([this.#shown.lease()?.token, versions]);
  }

  #moveAside(now: number, signer: Signer): void {
    const { dir, say } = this.#folder;
    const aside = nullOn("ENOENT", () => quarantineTasksFile(dir, now));
    if (aside === null) return;
    // another process was faster with the damaged file, and this is the file that it published
    if (readTasksFileAt(aside, signer).kind === "published") rmSync(aside);
    else say(`tasks.json did not parse: moved to ${aside} and written again from the journal.`);
  }

  #hasNews(): boolean {
    const { journal } = this.#folder;
    const { generation, bytes } = journal.position;
    journal.catchUp();
    const now = journal.position;
    return now.generation !== generation || now.bytes !== bytes;
  }
}

/** The content of tasks.json: the durable tasks, and a line for each goal and backlog that has not ended. */
function tasksFileOf(
  { dir, journal }: OpenedFolder,
  shown: Shown,
  now: number,
): Omit<TasksFile, "mark" | "sum"> {
  const loops = [...shown.loops()].filter(({ status }) => status !== "ended");
  const live = loops.filter((loop) => loop.kind === "task");
  const durable = live.filter((task) => task.session === null);
  return {
    $schema: TASKS_SCHEMA,
    version: 1,
    publishedAt: iso(now),
    journal: journal.position,
    folder: statSync(dir).ino,
    timeZone: localZone(),
    lease: shown.lease(),
    sessionTasks: live.length - durable.length,
    tasks: durable.map(viewTask),
    goals: loops.filter((loop) => loop.kind === "goal").map(lineOfGoal),
    backlogs: loops.filter((loop) => loop.kind === "backlog").map(lineOfBacklog),
  };
}
