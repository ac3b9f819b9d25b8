/** The changes of `install` and `uninstall` as data. `--dry-run` shows them; otherwise they are written. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { LoopError } from "../../../errors.ts";
import { cannotRead } from "../../../store/folder/loop-dir.ts";
import { errorCode, readIfThere } from "../../../system/files.ts";
import type { ClientEvent, ClientName } from "../clients/client.ts";
import { hasHooks, putHooks, takeHooks } from "./hook-lists.ts";
import { renderOpencodePlugin } from "./opencode-plugin.ts";
import { HOOK_COMMAND, ownCommand, sharedCommand } from "./shell.ts";
import { type HooksTarget, type InstallScope, isOwnItem, TARGETS } from "./targets.ts";
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
}

interface InstallPlan {
  readonly changes: readonly PlannedChange[];
  /** Files of other programs that have our file name; they are kept. */
  readonly kept: readonly string[];
}

export function planInstall(client: ClientName, scope: InstallScope, around: Around): InstallPlan {
  const { hooks, plugin, command } = TARGETS[client];
  const folder = TARGETS[client].folder(scope, around.project, around.env);
  const commandFor = (event: ClientEvent) =>
    scope === "user" ? ownCommand(around.program, client, event) : sharedCommand(client, event);
  const start = scope === "user" ? ["node", join(around.program, HOOK_COMMAND)] : ["loop"];
  const files = [
    ...(plugin === null ? [] : [{ path: plugin, text: renderOpencodePlugin(start) }]),
    command,
  ].map(({ path, text }) => ownFile(join(folder, path), scope, text));
  if (hooks === null) return planOf(files);
  const { file, text } = readFile(join(folder, hooks.path), scope);
  const wanted = { ...fileOf(client, hooks), items: hooks.items(commandFor) };
  return planOf([{ file, before: text, after: edit(file, () => putHooks(text, wanted)) }, ...files]);
}

export function planUninstall(client: ClientName, scope: InstallScope, around: Around): InstallPlan {
  const { hooks, plugin, command } = TARGETS[client];
  const folder = TARGETS[client].folder(scope, around.project, around.env);
  const files = [...(plugin === null ? [] : [plugin]), command.path].map((path) =>
    ownFile(join(folder, path), scope, null),
  );
  if (hooks === null) return planOf(files);
  const { file, text } = readFile(join(folder, hooks.path), scope);
  const after = text === null ? null : edit(file, () => takeHooks(text, fileOf(client, hooks)));
  return planOf([{ file, before: text, after }, ...files]);
}

/** Are our hooks installed? Throws if the file cannot be read. */
export function isInstalled(client: ClientName, scope: InstallScope, around: Around): boolean {
  const { hooks, plugin } = TARGETS[client];
  const folder = TARGETS[client].folder(scope, around.project, around.env);
  const { file, text } = readFile(join(folder, hooks?.path ?? plugin ?? ""), scope);
  if (text === null) return false;
  return hooks === null ? text.includes(MARK) : edit(file, () => hasHooks(text, isOwnItem(client)));
}

function fileOf(client: ClientName, { header }: HooksTarget) {
  return { isOurs: isOwnItem(client), header };
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
    return { file, text: readIfThere(file) };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { file: path, text: null };
    throw cannotRead(path, error);
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
