/**
 * The two client settings that an installation may write into a project's settings file, only when a person asks for
 * them. An existing value is always kept.
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

/** A top-level key, or a key inside a top-level object. */
export type SettingPath = readonly [string] | readonly [string, string];

export const CAP: SettingPath = ["env", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"];
export const STATUS_LINE: SettingPath = ["statusLine"];

export type SettingsScope = "user" | "project";

/** A project installation is shared with the team; a personal one is not. */
export function settingsFile(project: string, scope: SettingsScope): string {
  return join(project, ".claude", scope === "project" ? "settings.json" : "settings.local.json");
}

/** The current value. Throws if the setting cannot be written to the file. */
export function checkSettings(file: string, path: SettingPath): unknown {
  const text = read(file);
  const [key, inner] = path;
  const parent = readMember(text, [key]);
  if (inner !== undefined && parent !== undefined && !isObject(parent))
    throw new LoopError("surroundings", `${file}: ${key} is not an object.`, "Correct the file first.");
  return readMember(text, path);
}

/** null: a value exists and is kept. */
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

/** false: the setting was removed or changed since, so the file stays unchanged. */
export function removeSetting({ file, path, value, made }: WrittenSetting): boolean {
  if (!existsSync(file) || !isDeepStrictEqual(readMember(read(file), path), value)) return false;
  const text = removeMember(read(file), path, made.parent);
  try {
    if (made.file && Object.keys(JSON.parse(text) as object).length === 0) rmSync(file);
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
    // reported below
  }
  const hint = "Correct the file first. Nothing was changed.";
  throw new LoopError("surroundings", `${file} is not a JSON object.`, hint);
}

/** Refuses if another program changed the file at the same time. */
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
    // the folder is not empty
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
