/**
 * `.loop/tasks.json`: the durable tasks, published for people and other programs.
 *
 * The journal is the truth. An unchanged published file is replaced. A file that a person edited is read as requests,
 * which `loop` carries out like commands. A file that does not parse is moved aside and reported.
 */
import { join } from "node:path";
import type { BacklogLine, GoalLine } from "../../core/views/line.ts";
import type { TaskView } from "../../core/views/task-view.ts";
import { LoopError } from "../../errors.ts";
import type { Lease } from "../../ports/store.ts";
import { errorCode, lookAt, quarantine, readIfThere, replaceIf } from "../../system/files.ts";
import { cannotRead } from "../folder/loop-dir.ts";
import { isSigned, renderSigned } from "../signed/signed-json.ts";
import type { Signer } from "../signed/signer.ts";

export interface TasksFile {
  /** Missing in files of earlier versions. */
  readonly $schema?: string;
  readonly version: 1;
  readonly publishedAt: string;
  /** The position in the journal. While the journal has not grown, this file is up to date. */
  readonly journal: { readonly generation: number; readonly bytes: number };
  /** The inode of the folder. It does not match in a copy of the folder. */
  readonly folder: number;
  /** The id of the folder in `origin` at the time of publication. */
  readonly mark: string;
  /** The zone of the publishing machine. Times of other zones are shown with their zone. */
  readonly timeZone: string;
  readonly lease: Lease | null;
  /** The number of tasks that live with a session. They are not listed. */
  readonly sessionTasks: number;
  readonly tasks: readonly TaskView[];
  /** Goals that have not ended. Missing in files of earlier versions, like `backlogs`. */
  readonly goals?: readonly GoalLine[];
  readonly backlogs?: readonly BacklogLine[];
  /** The signature of all other fields. It shows whether somebody edited the file. */
  readonly sum: string;
}

/** `text` is the text of the file; null: there is no readable file. */
export type TasksFileState =
  | { readonly kind: "absent"; readonly text: null }
  | { readonly kind: "published"; readonly text: string; readonly content: TasksFile }
  | { readonly kind: "edited"; readonly text: string; readonly content: unknown }
  | { readonly kind: "damaged"; readonly text: string | null };

function tasksPath(dir: string): string {
  return join(dir, "tasks.json");
}

export function renderTasksFile(content: Omit<TasksFile, "sum">, signer: Signer): string {
  return renderSigned(signer, "tasks.json", content);
}

export function readTasksFile(dir: string, signer: Signer | null): TasksFileState {
  return readTasksFileAt(tasksPath(dir), signer);
}

/** For a file that has another name now. */
export function readTasksFileAt(path: string, signer: Signer | null): TasksFileState {
  let text: string | null = null;
  let content: unknown;
  try {
    text = readIfThere(path);
    if (text === null) return { kind: "absent", text };
    // some editors start a file with a byte order mark
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // ELOOP: a link; EISDIR: a folder
    const isDamaged = error instanceof SyntaxError || ["ELOOP", "EISDIR"].includes(errorCode(error) ?? "");
    if (isDamaged) return { kind: "damaged", text };
    throw error instanceof LoopError ? error : cannotRead(path, error);
  }
  if (typeof content !== "object" || content === null || Array.isArray(content))
    return { kind: "damaged", text };
  if (!isSigned(signer, "tasks.json", content)) return { kind: "edited", text, content };
  return { kind: "published", text, content: content as TasksFile };
}

/** Calls `mayReplace` at the last moment. false: the file was not changed. */
export function writeTasksFile(
  dir: string,
  text: string,
  publishedAt: number,
  mayReplace: () => boolean,
): boolean {
  return replaceIf(tasksPath(dir), text, mayReplace, true, publishedAt);
}

/**
 * The file, if its modification time is the time of its publication. Faster than the signature, and only for display.
 * null: use the signature.
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
