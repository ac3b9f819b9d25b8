/**
 * `.loop/tasks.json`: the durable tasks, published for people and other programs.
 *
 * The journal is the truth. A file that is exactly what some process published is replaced without a thought;
 * one that a person changed is read as requests (`loop` carries them out like commands); one that does not
 * parse is moved aside, and said so.
 */
import { join } from "node:path";
import type { TaskView } from "../core/task/view.ts";
import type { Lease } from "../ports.ts";
import { errorCode, quarantine, readIfThere, writeAtomic } from "../system/files.ts";
import { checksum } from "./checksum.ts";

export interface TasksFile {
  readonly version: 1;
  readonly publishedAt: string;
  /** How far the journal had been read. While it has not grown, this file says all there is to say. */
  readonly journal: { readonly generation: number; readonly bytes: number };
  /** Zone of the machine that published it: times of other zones are shown with their zone. */
  readonly timeZone: string;
  readonly lease: Lease | null;
  /** Tasks that live with a session are not kept here, only counted. */
  readonly sessionTasks: number;
  readonly tasks: readonly TaskView[];
  /** Checksum of all the above: tells what a process published from what a person edited. */
  readonly sum: string;
}

export type TasksFileState =
  | { readonly kind: "absent" }
  | { readonly kind: "published"; readonly content: TasksFile }
  | { readonly kind: "edited"; readonly content: unknown }
  | { readonly kind: "damaged" };

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
  let text: string | null;
  let content: unknown;
  try {
    text = readIfThere(path);
    if (text === null) return { kind: "absent" };
    // some editors put a byte order mark in front
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // ELOOP: a link, which we do not follow; EISDIR: a folder
    const code = errorCode(error);
    if (error instanceof SyntaxError || code === "ELOOP" || code === "EISDIR") return { kind: "damaged" };
    throw error;
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) return { kind: "damaged" };
  const { sum, ...rest } = content as Record<string, unknown>;
  if (sum !== sumOf(rest)) return { kind: "edited", content };
  return { kind: "published", content: content as TasksFile };
}

export function writeTasksFile(dir: string, text: string): void {
  writeAtomic(tasksPath(dir), text);
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
