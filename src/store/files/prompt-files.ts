/**
 * Reads what people write for the agents of a backlog: `.loop/prompts`, contracts and progress.md. Follows links inside
 * the project and refuses links that lead out of it (H4).
 */
import { closeSync, constants, fstatSync, lstatSync, readFileSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Mode } from "../../core/backlog/backlog.ts";
import { faultOfStoryId } from "../../core/backlog/prd/registry.ts";
import {
  defaultPrompts,
  type PromptRole,
  type PromptText,
  type PromptTexts,
} from "../../core/backlog/prompts/prompt-texts.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { surroundingsError, usageError } from "../../errors.ts";
import { openOwn } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { checkLoopDir, whileReading } from "../folder/loop-dir.ts";

const MAX_BYTES = 256 * 1024;
const TAIL_BYTES = 64 * 1024;

export function promptPath(root: string, role: PromptRole, name: Mode | "_base"): string {
  return join(root, ".loop", "prompts", role, `${name}.md`);
}

export function contractPath(root: string, storyId: string): string {
  return join(root, ".loop", "contracts", `${checkedId(storyId)}.contract.md`);
}

/** The result of `explore` for a story. */
export function analysisPath(root: string, storyId: string): string {
  return join(root, ".loop", "triage", `${checkedId(storyId)}-analysis.md`);
}

export function progressPath(root: string): string {
  return join(root, ".loop", "progress.md");
}

/** Each of the two texts is the project's own or the default. An empty file is an error. */
export function readPrompts(root: string, role: PromptRole, mode: Mode): PromptTexts {
  const ours = defaultPrompts(role, mode);
  return {
    base: readPrompt(root, promptPath(root, role, "_base")) ?? ours.base,
    mode: readPrompt(root, promptPath(root, role, mode)) ?? ours.mode,
  };
}

function readPrompt(root: string, path: string): PromptText | null {
  const text = readInside(root, path);
  if (text === null) return null;
  if (text.trim() === "")
    throw surroundingsError(`${path} is empty.`, "Write the prompt, or remove the file to use the default.");
  return { text, path };
}

/** null: the story has no contract. */
export function readContract(root: string, storyId: string): string | null {
  return readInside(root, contractPath(root, storyId));
}

export function readAnalysis(root: string, storyId: string): string | null {
  return readInside(root, analysisPath(root, storyId));
}

/** The last lines of progress.md; empty without the file. */
export function readProgressTail(root: string): string {
  const path = progressPath(root);
  return (
    withFile(root, path, (fd, size) => {
      const from = Math.max(0, size - TAIL_BYTES);
      const buffer = Buffer.alloc(size - from);
      const read = readSync(fd, buffer, 0, buffer.length, from);
      const text = buffer.toString("utf8", 0, read);
      return from === 0 ? withoutMark(text) : text.slice(text.indexOf("\n") + 1);
    }) ?? ""
  );
}

function readInside(root: string, path: string): string | null {
  return withFile(root, path, (fd, size) => {
    if (size > MAX_BYTES)
      throw surroundingsError(`${path} is larger than ${MAX_BYTES / 1024} KiB.`, "Make it shorter.");
    return withoutMark(readFileSync(fd, "utf8"));
  });
}

/** null: there is no such file. Opens the target of all links, and no further link. */
function withFile<Result>(
  root: string,
  path: string,
  read: (fd: number, size: number) => Result,
): Result | null {
  if (!checkLoopDir(root) || lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  if (!isInside(root, path))
    throw surroundingsError(
      `${path} is a link that leads out of the project, or nowhere.`,
      "Replace it with a file.",
    );
  return whileReading(path, () => {
    const fd = openOwn(realpathSync(path), constants.O_RDONLY);
    try {
      return read(fd, fstatSync(fd).size);
    } finally {
      closeSync(fd);
    }
  });
}

/** Some editors start a file with a byte order mark. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}

/** H4: the id becomes a part of a path. */
function checkedId(id: string): string {
  const fault = faultOfStoryId(id);
  if (fault !== null) throw usageError(`"${cleanLine(id)}" cannot be the id of a story: ${fault}.`);
  return id;
}
