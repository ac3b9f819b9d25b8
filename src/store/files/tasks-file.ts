/**
 * `.loop/tasks.json`: the durable tasks, published for people and other programs.
 *
 * The journal is the truth. A file that is exactly what some process published is replaced without a thought;
 * one that a person changed is read as requests (`loop` carries them out like commands); one that does not
 * parse is moved aside, and said so.
 */
import { join } from "node:path";
import type { BacklogLine, GoalLine } from "../../core/views/line.ts";
import type { TaskView } from "../../core/views/task-view.ts";
import type { Lease } from "../../ports/store.ts";
import { errorCode, lookAt, quarantine, readIfThere, replaceIf } from "../../system/files.ts";
import { checksum } from "../journal/checksum.ts";

export interface TasksFile {
  /** Missing where an earlier version wrote it. */
  readonly $schema?: string;
  readonly version: 1;
  readonly publishedAt: string;
  /** How far the journal had been read. While it has not grown, this file says all there is to say. */
  readonly journal: { readonly generation: number; readonly bytes: number };
  /** Inode of the folder: a copy of it that lies elsewhere says so itself. */
  readonly folder: number;
  /** The mark in `origin` under which it was published. */
  readonly mark: string;
  /** Zone of the machine that published it: times of other zones are shown with their zone. */
  readonly timeZone: string;
  readonly lease: Lease | null;
  /** Tasks that live with a session are not kept here, only counted. */
  readonly sessionTasks: number;
  readonly tasks: readonly TaskView[];
  /** Goal loops that have not ended, for the list; missing where an earlier version wrote it. */
  readonly goals?: readonly GoalLine[];
  /** The same for backlogs. */
  readonly backlogs?: readonly BacklogLine[];
  /** Checksum of all the above: tells what a process published from what a person edited. */
  readonly sum: string;
}

/** `text` is what was read; null: there is nothing that could be read as a file. */
export type TasksFileState =
  | { readonly kind: "absent"; readonly text: null }
  | { readonly kind: "published"; readonly text: string; readonly content: TasksFile }
  | { readonly kind: "edited"; readonly text: string; readonly content: unknown }
  | { readonly kind: "damaged"; readonly text: string | null };

export function tasksPath(dir: string): string {
  return join(dir, "tasks.json");
}

export function renderTasksFile(content: Omit<TasksFile, "sum">): string {
  return `${JSON.stringify({ ...content, sum: sumOf(content) }, null, 2)}\n`;
}

export function readTasksFile(dir: string): TasksFileState {
  return readTasksFileAt(tasksPath(dir));
}

function readTasksFileAt(path: string): TasksFileState {
  let text: string | null = null;
  let content: unknown;
  try {
    text = readIfThere(path);
    if (text === null) return { kind: "absent", text };
    // some editors put a byte order mark in front
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // ELOOP: a link, which we do not follow; EISDIR: a folder
    const code = errorCode(error);
    if (error instanceof SyntaxError || code === "ELOOP" || code === "EISDIR")
      return { kind: "damaged", text };
    throw error;
  }
  if (typeof content !== "object" || content === null || Array.isArray(content))
    return { kind: "damaged", text };
  const { sum, ...rest } = content as Record<string, unknown>;
  if (sum !== sumOf(rest)) return { kind: "edited", text, content };
  return { kind: "published", text, content: content as TasksFile };
}

/** `mayReplace` is asked at the last moment. false: the file was left alone. */
export function writeTasksFile(
  dir: string,
  text: string,
  publishedAt: number,
  mayReplace: (there: TasksFileState) => boolean,
): boolean {
  return replaceIf(tasksPath(dir), text, () => mayReplace(readTasksFile(dir)), true, publishedAt);
}

/**
 * The file, if nobody touched it since it was published: it has the time of its own publication. Quicker than the
 * checksum, which decides about anything that is done with the file; null says nothing but that.
 */
export function readUntouched(dir: string): TasksFile | null {
  const text = readIfThere(tasksPath(dir));
  const content = text === null ? null : (JSON.parse(text) as TasksFile | null);
  const changedAt = Math.round(lookAt(tasksPath(dir)).mtimeMs);
  return content !== null && Date.parse(content.publishedAt) === changedAt ? content : null;
}

export function quarantineTasksFile(dir: string, now: number): string {
  return quarantine(tasksPath(dir), now);
}

/** Is this, under whatever name, a file that some process published? */
export function isPublished(path: string): boolean {
  return readTasksFileAt(path).kind === "published";
}

function sumOf(content: object): string {
  return checksum(JSON.stringify(content));
}
