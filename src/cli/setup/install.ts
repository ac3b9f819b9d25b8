/**
 * `loop install claude`: copies the plugin, registers it in Claude Code, and offers one line in the project's
 * settings. Repeating it changes nothing.
 *
 * JSON: `{ version: 1, client, clientVersion, plugin: { version, folder, scope, copied }, cap, statusLine, notes }`,
 * where `cap` and `statusLine` are "written", "there", "elsewhere" or "not asked for".
 */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { surroundingsError, usageError } from "../../errors.ts";
import { clientVersion, lookForClient, PluginClient } from "../../hosts/claude-code/install/client.ts";
import { judgeVersion } from "../../hosts/claude-code/install/client-version.ts";
import { MARKETPLACE, PLUGIN_ID, type Places, placesOf } from "../../hosts/claude-code/install/places.ts";
import { isSameFolder, putMarketplace } from "../../hosts/claude-code/install/plugin-folder.ts";
import {
  CAP,
  checkSettings,
  type SettingPath,
  type SettingsScope,
  STATUS_LINE,
  settingsFile,
  writeSetting,
} from "../../hosts/claude-code/install/project-settings.ts";
import { readReceipt, writeReceipt } from "../../hosts/claude-code/install/receipt.ts";
import { builtMarketplace } from "../../hosts/conversation/install/built-files.ts";
import { CLIENT_NAMES, isClientName } from "../../hosts/stop-hook/clients/client.ts";
import { findProject } from "../../store/folder/loop-dir.ts";
import { VERSION } from "../../version.ts";
import { confirmInTerminal } from "../confirm.ts";
import { answer, type Io } from "../io.ts";
import type { ProjectFlags } from "../project.ts";

export interface InstallFlags extends ProjectFlags {
  readonly scope?: string;
  readonly cap?: boolean;
  readonly statusLine?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

type SettingState = "written" | "there" | "elsewhere" | "not asked for";

export async function installCommand(client: string, flags: InstallFlags, io: Io): Promise<number> {
  const scope = checkClient(client, flags);
  const root = projectFolder(flags);
  if (client === "pi") return (await import("./install-pi.ts")).installPiCommand(flags, io);
  if (isClientName(client)) {
    const { installClient } = await import("./install-client.ts");
    return installClient(client, scope, root, flags, io);
  }
  if (flags.dryRun)
    throw usageError(
      "--dry-run does not work for claude.",
      "docs/claude-code.md says what the command writes.",
    );
  const places = placesOf(process.env);
  const file = settingsFile(root, scope);
  // Problems are reported before anything is written.
  if (flags.cap || flags.yes) checkSettings(file, CAP);
  if (flags.statusLine) checkSettings(file, STATUS_LINE);
  readReceipt(places.receipt);
  const { path: claude, reason } = lookForClient(process.env);
  if (claude === null) throw surroundingsError(`claude ${reason}.`, "Install Claude Code first.");
  const version = await clientVersion(claude, process.env);
  const judged = judgeVersion(version);
  if (judged.state === "broken")
    throw surroundingsError(`Claude Code ${judged.text}.`, "Update it with: claude update");

  const notes = judged.state === "note" ? [`Claude Code ${judged.text}.`] : [];
  const copied = putMarketplace(builtMarketplace(), places.marketplace) === "copied";
  notes.push(...(await registerPlugin(new PluginClient(claude, process.env), places, scope, root)));
  const cap = await writeCap(flags, file, root, places, io);
  const statusLine = flags.statusLine ? writeStatusLine(file, root, places) : "not asked for";

  const plugin = { version: VERSION, folder: places.plugin, scope, copied };
  const view = { version: 1, client, clientVersion: version, plugin, cap, statusLine, notes };
  return answer(flags, io, view, render({ scope, file, copied, cap, statusLine, notes }, places));
}

export function checkClient(client: string, { scope = "user" }: { readonly scope?: string }): SettingsScope {
  if (client !== "claude" && client !== "pi" && !isClientName(client))
    throw usageError(
      `Loopwright cannot be installed in "${client}".`,
      `Write one of: ${["claude", "pi", ...CLIENT_NAMES].join(", ")}`,
    );
  if (scope !== "user" && scope !== "project")
    throw usageError(`--scope "${scope}" is not known; write user or project.`);
  return scope;
}

/** Does not read `.loop`, which may be broken. */
export function projectFolder({ project = process.cwd() }: ProjectFlags): string {
  const folder = resolve(project);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw usageError(`--project: there is no folder ${folder}.`);
  return findProject(folder);
}

async function registerPlugin(
  client: PluginClient,
  places: Places,
  scope: SettingsScope,
  root: string,
): Promise<readonly string[]> {
  const notes: string[] = [];
  const before = await client.marketplace(root);
  if (before !== null && before.source !== "directory")
    throw surroundingsError(
      `Claude Code has another marketplace with the name ${MARKETPLACE} (${before.source}).`,
      `Remove it first with: claude plugin marketplace remove ${MARKETPLACE}`,
    );
  if (before?.path !== places.marketplace) {
    await client.addMarketplace(places.marketplace, root);
    if (before?.path != null) notes.push(`The marketplace ${MARKETPLACE} moved here from ${before.path}.`);
  }
  const find = async () =>
    (await client.plugins(root)).find(
      (each) =>
        each.id === PLUGIN_ID &&
        each.scope === scope &&
        (scope === "user" || isSameFolder(each.project ?? "", root)),
    );
  const there = await find();
  if (there === undefined) await client.change("install", scope, root);
  else {
    await client.change("update", scope, root);
    if (!there.enabled) await client.change("enable", scope, root);
  }
  const now = await find();
  if (now?.enabled !== true || !isSameFolder(now.folder, places.plugin))
    throw surroundingsError(
      "Claude Code accepted the plugin but does not load it.",
      "See: claude plugin list",
    );
  return notes;
}

async function writeCap(
  flags: InstallFlags,
  file: string,
  root: string,
  places: Places,
  io: Io,
): Promise<SettingState> {
  if (flags.cap === false) return "not asked for";
  const isWanted = flags.cap === true || flags.yes === true;
  if (!isWanted) {
    if (readQuietly(file, CAP) !== undefined) return "there";
    const question = `Claude Code ends a loop after 8 turns without a tool call. Lift this limit for this project (one line in ${file})?`;
    if (!io.interactive || flags.json || !(await confirmInTerminal(question))) return "not asked for";
  }
  return write(places, root, file, CAP, "0");
}

/** Writes nothing if another settings file has a status line: this one would hide it. */
function writeStatusLine(file: string, root: string, places: Places): SettingState {
  const others = [
    join(places.config, "settings.json"),
    settingsFile(root, "project"),
    settingsFile(root, "user"),
  ].filter((other) => other !== file);
  if (others.some((other) => readQuietly(other, STATUS_LINE) !== undefined)) return "elsewhere";
  const program = join(places.plugin, "bin", "loop", "statusline.cjs");
  const quoted = process.platform === "win32" ? `"${program}"` : `'${program.replaceAll("'", "'\\''")}'`;
  const value = { type: "command", command: `node ${quoted}`, refreshInterval: 5 };
  return write(places, root, file, STATUS_LINE, value);
}

/** Records each setting at once, so that uninstall finds it after a crash. */
function write(places: Places, root: string, file: string, path: SettingPath, value: unknown): SettingState {
  const written = writeSetting(root, file, path, value);
  if (written === null) return "there";
  writeReceipt(places.receipt, [...readReceipt(places.receipt), written]);
  return "written";
}

/** null: the file is unreadable, so it may have the setting. */
function readQuietly(file: string, path: SettingPath): unknown {
  try {
    return checkSettings(file, path);
  } catch {
    return null;
  }
}

interface Done {
  readonly scope: SettingsScope;
  readonly file: string;
  readonly copied: boolean;
  readonly cap: SettingState;
  readonly statusLine: SettingState;
  readonly notes: readonly string[];
}

function render({ scope, file, copied, cap, statusLine, notes }: Done, places: Places): string {
  const capLines: Record<SettingState, string> = {
    written: `Wrote ${CAP.join(".")} = "0" to ${file}.`,
    there: `${file} already has ${CAP.join(".")}, which was not changed.`,
    elsewhere: "",
    "not asked for":
      "Claude Code ends a loop after 8 turns without a tool call; Loopwright then wakes it again. To lift this limit: loop install claude --cap",
  };
  const statusLines: Record<SettingState, string> = {
    written: `Wrote statusLine to ${file}.`,
    there: `${file} already has a statusLine, which was not changed.`,
    elsewhere: "Another of your settings files has a statusLine, which was not changed.",
    "not asked for": "",
  };
  return [
    `Plugin ${PLUGIN_ID} ${VERSION} ${copied ? "copied to" : "is in"} ${places.plugin}`,
    `Installed for ${scope === "user" ? "you, in all projects" : "this project (.claude/settings.json)"}. It works in new conversations, and in open ones after /reload-plugins.`,
    ...(scope === "project" ? ["Other people who work on this project run the same command once."] : []),
    capLines[cap],
    statusLines[statusLine],
    ...notes,
    "Type in Claude Code: /loopwright help    Check: loop doctor    Undo: loop uninstall claude",
  ]
    .filter((line) => line !== "")
    .join("\n");
}
