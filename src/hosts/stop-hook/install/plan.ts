/** The changes of `install` and `uninstall` as data. `--dry-run` shows them; otherwise they are written. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { LoopError, surroundingsError } from "../../../errors.ts";
import { cannotRead } from "../../../store/folder/loop-dir.ts";
import { errorCode, readBytes, readIfThere } from "../../../system/files.ts";
import type { ClientEvent, ClientName } from "../clients/client.ts";
import { hasHooks, putHooks, takeHooks } from "./hook-lists.ts";
import { renderOpencodePlugin } from "./opencode-plugin.ts";
import { originalOf, recall } from "./originals.ts";
import { HOOK_COMMAND, ownCommand, sharedCommand } from "./shell.ts";
import { type InstallScope, isOwnItem, TARGETS } from "./targets.ts";
import { MARK } from "./texts.ts";

export interface Around {
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  /** The folder of the program for a person's own hooks. */
  readonly program: string;
}

/** A change of one file; null: the file does not exist. */
export interface PlannedChange {
  readonly file: string;
  readonly before: string | null;
  readonly after: string | null;
  /** The text to remember for `uninstall`. Left out: removing our part restores it. */
  readonly original?: string | null;
}

interface InstallPlan<Change extends PlannedChange = PlannedChange> {
  readonly changes: readonly Change[];
  /** Files of other programs that have our file name; they are kept. */
  readonly kept: readonly string[];
}

/** An installation only creates and changes files. */
type Written = PlannedChange & { readonly after: string };

export function planInstall(client: ClientName, scope: InstallScope, around: Around): InstallPlan<Written> {
  const { changes, kept } = planFor(client, scope, around, true);
  return { changes: changes.filter((change): change is Written => change.after !== null), kept };
}

export function planUninstall(client: ClientName, scope: InstallScope, around: Around): InstallPlan {
  return planFor(client, scope, around, false);
}

function planFor(client: ClientName, scope: InstallScope, around: Around, isWanted: boolean): InstallPlan {
  const { hooks, plugin, command } = TARGETS[client];
  const folder = TARGETS[client].folder(scope, around.project, around.env);
  const start = scope === "user" ? ["node", join(around.program, HOOK_COMMAND)] : ["loop"];
  const plugins = plugin === undefined ? [] : [{ path: plugin, text: renderOpencodePlugin(start) }];
  const files = [...plugins, command].map(({ path, text }) =>
    ownFile(join(folder, path), scope, isWanted ? text : null),
  );
  if (hooks === undefined) return planOf(files);
  const { file, text: before } = readFile(join(folder, hooks.path), scope);
  const shared = { isOurs: isOwnItem(client), header: hooks.header };
  const commandFor = (event: ClientEvent) =>
    scope === "user" ? ownCommand(around.program, client, event) : sharedCommand(client, event);
  const known = recall(around.env, file);
  const original = originalOf(known, before);
  return edit(file, () => {
    if (isWanted) {
      const after = putHooks(before, { ...shared, items: hooks.items(commandFor) });
      const wasOurs = !isBlank(before) && hasHooks(before, shared.isOurs);
      const kept = wasOurs ? original : takeHooks(after, shared) === before ? undefined : before;
      return planOf([{ file, before, after, ...(kept === undefined ? {} : { original: kept }) }, ...files]);
    }
    const left = isBlank(before) ? before : takeHooks(before, shared);
    return planOf([{ file, before, after: original === undefined ? left : original }, ...files]);
  });
}

function isBlank(text: string | null): text is "" | null {
  return text === null || text.trim() === "";
}

/** Are our hooks installed? Throws if the file cannot be read. */
export function isInstalled(client: ClientName, scope: InstallScope, around: Around): boolean {
  const { hooks, plugin } = TARGETS[client];
  const folder = TARGETS[client].folder(scope, around.project, around.env);
  const { file, text } = readFile(join(folder, hooks?.path ?? plugin ?? ""), scope);
  if (text === null) return false;
  return hooks === undefined ? text.includes(MARK) : edit(file, () => hasHooks(text, isOwnItem(client)));
}

function planOf(changes: readonly (PlannedChange & { readonly isForeign?: boolean })[]): InstallPlan {
  return {
    changes: changes.filter(({ before, after, isForeign }) => before !== after && isForeign !== true),
    kept: changes.flatMap(({ file, isForeign }) => (isForeign === true ? [file] : [])),
  };
}

/** A file that is completely ours. A file of another program with the same name is not changed. */
function ownFile(
  path: string,
  scope: InstallScope,
  text: string | null,
): PlannedChange & { readonly isForeign: boolean } {
  const { file, text: before } = readFile(path, scope);
  return { file, before, after: text, isForeign: before !== null && !before.includes(MARK) };
}

/** A person's own file may be a link. A project's file must be inside the project. */
function readFile(
  path: string,
  scope: InstallScope,
): { readonly file: string; readonly text: string | null } {
  try {
    const file = scope === "user" ? realpathSync(path) : path;
    const text = readIfThere(file);
    // its other bytes would be lost
    if (text?.includes("\ufffd") && !readBytes(file).equals(Buffer.from(text)))
      throw surroundingsError(`${file} is not UTF-8 text.`, "Correct the file first. Nothing was changed.");
    return { file, text };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { file: path, text: null };
    throw error instanceof LoopError ? error : cannotRead(path, error);
  }
}

function edit<T>(file: string, change: () => T): T {
  try {
    return change();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new LoopError(
      "surroundings",
      `${file} is not a valid hooks file: ${error.message}.`,
      "Correct the file first. Nothing was changed.",
    );
  }
}
