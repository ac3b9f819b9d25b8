/**
 * The two settings of the client that an installation may write into a project, each only when a person asked for it:
 * a line in a file that belongs to somebody else. A value that is there is kept, whatever it is.
 */
import { chmodSync, existsSync, mkdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { LoopError } from "../../../errors.ts";
import { cannotRead, cannotWrite } from "../../../store/folder/loop-dir.ts";
import { readIfThere, replaceIf } from "../../../system/files.ts";
import { isInside } from "../../../system/inside.ts";
import { addMember, readMember, removeMember } from "../../../system/jsonc/edit.ts";
import type { WrittenSetting } from "./receipt.ts";

/** A key at the top of the file, or a key inside an object at the top. */
export type SettingPath = readonly [string] | readonly [string, string];

export const CAP: SettingPath = ["env", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"];
export const STATUS_LINE: SettingPath = ["statusLine"];

export type SettingsScope = "user" | "project";

/** A project's installation is shared with those who work on it; a person's own is not. */
export function settingsFile(project: string, scope: SettingsScope): string {
  return join(project, ".claude", scope === "project" ? "settings.json" : "settings.local.json");
}

/** Throws the sentence when the file is none that a line could be written into. */
export function checkSettings(file: string, path: SettingPath): unknown {
  const text = read(file);
  const [key, inner] = path;
  const parent = readMember(text, [key]);
  if (inner !== undefined && parent !== undefined && !isObject(parent))
    throw new LoopError("surroundings", `${file}: ${key} is not an object.`, "Mend it first.");
  return readMember(text, path);
}

/** null: there is a value already, and it stays. */
export function writeSetting(
  project: string,
  file: string,
  path: SettingPath,
  value: unknown,
): WrittenSetting | null {
  if (checkSettings(file, path) !== undefined) return null;
  const folder = dirname(file);
  const [key, inner] = path;
  const made = {
    folder: !existsSync(folder),
    file: !existsSync(file),
    parent: inner !== undefined && readMember(read(file), [key]) === undefined,
  };
  try {
    if (made.folder) mkdirSync(folder);
    if (!isInside(project, folder)) throw new Error(`${folder} leads out of the project`);
    replace(file, addMember(read(file), path, value));
  } catch (error) {
    throw error instanceof LoopError ? error : cannotWrite(file, error);
  }
  return { file, path: [...path], value, made };
}

/** false: it is not there any more, or not as it was written, and stays as it is. */
export function removeSetting({ file, path, value, made }: WrittenSetting): boolean {
  if (!existsSync(file) || !isDeepStrictEqual(readMember(read(file), path), value)) return false;
  const text = removeMember(read(file), path, made.parent);
  try {
    if (made.file && isEmpty(text)) rmSync(file);
    else replace(file, text);
    if (made.folder) removeIfEmpty(dirname(file));
  } catch (error) {
    throw cannotWrite(file, error);
  }
  return true;
}

function read(file: string): string {
  let text: string | null;
  try {
    text = readIfThere(file);
  } catch (error) {
    throw cannotRead(file, error);
  }
  try {
    if (text === null) return "{}\n";
    if (isObject(JSON.parse(text))) return text;
  } catch {
    // said below
  }
  throw new LoopError("surroundings", `${file} is not a JSON object.`, "Mend it first; nothing was changed.");
}

/** What somebody saved meanwhile is spared. */
function replace(file: string, text: string): void {
  const before = readIfThere(file);
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (!replaceIf(file, text, () => readIfThere(file) === before))
    throw new LoopError("surroundings", `${file} was changed at the same time.`, "Try again.");
  if (mode !== undefined) chmodSync(file, mode & 0o777);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // somebody put something into it
  }
}

function isEmpty(text: string): boolean {
  return Object.keys(JSON.parse(text) as object).length === 0;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
