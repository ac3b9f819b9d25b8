/**
 * Imports a PRD.md (C2): `### T-001: title`, an HTML comment with id, blockedBy and parallel, text, and `- [ ]` lines
 * as criteria. Code blocks are text. The order of the tasks is their priority.
 */
import { isRecord, parseJson } from "../../json.ts";
import type { ImportResult } from "./import-ralph.ts";

export function importPrdMarkdown(text: string): ImportResult {
  const document = readDocument(text.replace(/^\uFEFF/, "").split(/\r\n?|\n/));
  if (typeof document === "string") return { kind: "refused", message: document };
  const { title, intro, tasks } = document;
  if (tasks.length === 0)
    return { kind: "refused", message: 'it has no task; write headings such as "### T-001: Store the user"' };
  const userStories: Readonly<Record<string, unknown>>[] = [];
  for (const [index, task] of tasks.entries()) {
    const story = toStory(task, index + 1);
    if (typeof story === "string") return { kind: "refused", message: story };
    userStories.push(story);
  }
  const isParallel = userStories.some(({ parallel }) => parallel !== undefined);
  return {
    kind: "ok",
    content: { ...(title === "" ? {} : { project: title }), description: paragraphs(intro), userStories },
    remarks: isParallel
      ? ["The field parallel is kept but not used; dependsOn decides which stories run in parallel."]
      : [],
  };
}

interface Task {
  readonly line: number;
  readonly level: number;
  readonly id: string;
  readonly title: string;
  readonly comments: string[];
  readonly text: string[];
  readonly criteria: { readonly text: string; readonly isDone: boolean }[];
}

interface Document {
  title: string;
  readonly intro: string[];
  readonly tasks: Task[];
}

const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const TASK = /^\[?([A-Za-z][A-Za-z0-9]{0,9}[-_]?\d[A-Za-z0-9._-]*)\]?\s*(?:[:–—.]|\s-)\s*(.*)$/;
const CRITERION = /^\s*[-*+]\s+\[([ xX])\]\s+(.+)$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** A string says why it cannot be read. */
function readDocument(lines: readonly string[]): Document | string {
  const document: Document = { title: "", intro: [], tasks: [] };
  let task: Task | null = null;
  let isIntro = true;
  let fence: string | null = null;
  for (let at = 0; at < lines.length; at++) {
    // Drop comments inside a line.
    const line = (lines[at] ?? "").replaceAll(/(?<=\S.*)<!--.*?-->/g, "");
    const [, mark] = FENCE.exec(line) ?? [];
    if (fence !== null || mark !== undefined) {
      if (fence === null) fence = mark ?? null;
      else if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
      if (task !== null) task.text.push(line);
      continue;
    }
    if (/^\s*<!--/.test(line)) {
      const comment = readComment(lines, at);
      if (comment === null) return `the comment in line ${at + 1} has no end`;
      task?.comments.push(comment.text);
      at = comment.last;
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading !== null) {
      const [, marks = "", words = ""] = heading;
      const [, id, title = ""] = marks.length >= 2 && marks.length <= 4 ? (TASK.exec(words) ?? []) : [];
      if (id !== undefined) {
        task = { line: at + 1, level: marks.length, id, title, comments: [], text: [], criteria: [] };
        document.tasks.push(task);
      } else if (marks.length === 1 && document.title === "") {
        document.title = words.replace(/^PRD\s*[:–—-]\s*/i, "");
      } else if (task !== null && marks.length <= task.level) task = null;
      isIntro &&= id === undefined && document.intro.every((one) => one.trim() === "");
      continue;
    }
    addLine(line, task, isIntro ? document.intro : null);
  }
  return document;
}

function addLine(line: string, task: Task | null, intro: string[] | null): void {
  if (task === null) {
    intro?.push(line);
    return;
  }
  const [, mark, criterion] = CRITERION.exec(line) ?? [];
  if (criterion === undefined) task.text.push(line);
  else task.criteria.push({ text: criterion.trim(), isDone: mark !== " " });
}

/** A comment that starts in line `first`; null: it has no end. */
function readComment(
  lines: readonly string[],
  first: number,
): { readonly text: string; readonly last: number } | null {
  for (let last = first; last < lines.length; last++) {
    const text = lines.slice(first, last + 1).join("\n");
    const [, inside] = /<!--([\s\S]*?)-->/.exec(text) ?? [];
    if (inside !== undefined) return { text: inside, last };
  }
  return null;
}

/** A string says why the task cannot be imported. */
function toStory(task: Task, priority: number): Readonly<Record<string, unknown>> | string {
  const { id, title, line, criteria, text, comments } = task;
  const where = `${id} in line ${line}`;
  if (title === "") return `${where} has no title`;
  const fields = readFields(comments.join("\n"));
  if (fields === null) return `the comment of ${where} is neither JSON nor "key: value" pairs`;
  if (fields.id !== undefined && fields.id !== id) return `${where} has the id ${fields.id} in its comment`;
  const { parallel } = fields;
  if (parallel !== undefined && !/^(?:true|false|yes|no)$/i.test(parallel))
    return `${where} has parallel: ${parallel}, which is neither true nor false`;
  return {
    id,
    title,
    description: paragraphs(text),
    acceptanceCriteria: criteria.map((one) => one.text),
    priority,
    dependsOn: listOf(fields.blockedBy ?? fields.dependsOn ?? ""),
    passes: criteria.length > 0 && criteria.every(({ isDone }) => isDone),
    ...(parallel === undefined ? {} : { parallel: /^(?:true|yes)$/i.test(parallel) }),
  };
}

const FIELDS = ["id", "blockedBy", "dependsOn", "parallel"] as const;

type Field = (typeof FIELDS)[number];
type TaskFields = { [key in Field]?: string };

/** Also written as `blocked_by` or `Blocked-By`. */
function fieldOf(key: string): Field | undefined {
  const plain = key.toLowerCase().replaceAll(/[_-]/g, "");
  return FIELDS.find((field) => field.toLowerCase() === plain);
}

/** JSON, or `key: value` pairs separated by commas, semicolons, bars or line breaks. Other comments have no fields. */
function readFields(comment: string): TaskFields | null {
  const text = comment.trim();
  const fields: TaskFields = {};
  const put = (key: string, value: string) => {
    const name = fieldOf(key);
    if (name !== undefined) fields[name] = value.trim().replace(/^(["'])(.*)\1$/, "$2");
  };
  if (text.startsWith("{")) {
    const parsed = parseJson(text);
    if (!isRecord(parsed)) return null;
    for (const [key, value] of Object.entries(parsed)) put(key, String(value ?? ""));
    return fields;
  }
  const keys = [...text.matchAll(/(?:^|[\s,;|])([A-Za-z][\w-]*)\s*[:=]\s*/g)].filter(
    ([, key = ""]) => fieldOf(key) !== undefined,
  );
  for (const [index, found] of keys.entries()) {
    const from = found.index + found[0].length;
    const value = text.slice(from, keys[index + 1]?.index ?? text.length);
    put(found[1] ?? "", /^\[[^\]]*\]/.exec(value)?.[0] ?? value.replace(/[\s,;|]+$/, ""));
  }
  return fields;
}

/** `[T-001, T-002]`, `T-001,T-002`, `none`, `[]` */
function listOf(value: string): readonly string[] {
  const inner = value.trim().replace(/^\[([\s\S]*)\]$/, "$1");
  if (/^(?:none|null|-|n\/a|)$/i.test(inner.trim())) return [];
  return inner
    .split(/[,\s]+/)
    .map((one) => one.replace(/^(["'])(.*)\1$/, "$2"))
    .filter((one) => one !== "");
}

function paragraphs(lines: readonly string[]): string {
  return lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
