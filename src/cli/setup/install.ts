/**
 * `loop install claude`: puts the plugin where it stays, tells the client of it, and offers one line in the project's
 * settings. Doing it again changes nothing.
 *
 * JSON: `{ version: 1, client, clientVersion, plugin: { version, folder, scope, copied }, cap, statusLine, notes }`,
 * where `cap` and `statusLine` are "written", "there", "elsewhere" or "not asked for".
 */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { LoopError, usageError } from "../../errors.ts";
import { clientVersion, findClient, PluginClient } from "../../hosts/claude-code/install/client.ts";
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
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import type { ProjectFlags } from "../project.ts";

export interface InstallFlags extends ProjectFlags {
  readonly json?: boolean;
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
      "--dry-run is for clients other than claude.",
      "See what it writes: docs/claude-code.md",
    );
  const places = placesOf(process.env);
  const file = settingsFile(root, scope);
  // what cannot be done is said before anything is
  if (flags.cap || flags.yes) checkSettings(file, CAP);
  if (flags.statusLine) checkSettings(file, STATUS_LINE);
  readReceipt(places.receipt);
  const claude = findClient(process.env);
  if (claude === null)
    throw new LoopError("surroundings", "claude is not on the PATH.", "Install Claude Code first.");
  const version = await clientVersion(claude, process.env);
  const word = judgeVersion(version);
  if (word.state === "broken")
    throw new LoopError("surroundings", `Claude Code ${word.text}.`, "Update it: claude update");

  const notes = word.state === "note" ? [`Claude Code ${word.text}.`] : [];
  const copied = putMarketplace(builtMarketplace(), places.marketplace) === "copied";
  notes.push(...(await enter(new PluginClient(claude, process.env), places, scope, root)));
  const cap = await writeCap(flags, file, root, places, io);
  const statusLine = flags.statusLine ? writeStatusLine(file, root, places) : "not asked for";

  if (flags.json)
    io.json({
      version: 1,
      client: "claude",
      clientVersion: version,
      plugin: { version: VERSION, folder: places.plugin, scope, copied },
      cap,
      statusLine,
      notes,
    });
  else io.out(render({ scope, file, copied, cap, statusLine, notes }, places));
  return EXIT.ok;
}

export function checkClient(client: string, { scope = "user" }: { readonly scope?: string }): SettingsScope {
  if (client !== "claude" && client !== "pi" && !isClientName(client))
    throw usageError(
      `No plugin is known for ${client}.`,
      `Known are: ${["claude", "pi", ...CLIENT_NAMES].join(", ")}`,
    );
  if (scope !== "user" && scope !== "project")
    throw usageError(`--scope must be user or project, and is ${scope}.`);
  return scope;
}

/** Without a look into its `.loop`, which may be what is broken. */
export function projectFolder({ project = process.cwd() }: ProjectFlags): string {
  const folder = resolve(project);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw usageError(`There is no folder ${folder}.`);
  return findProject(folder);
}

/** The client knows the plugin afterwards, and loads it from our folder. */
async function enter(
  client: PluginClient,
  places: Places,
  scope: SettingsScope,
  root: string,
): Promise<readonly string[]> {
  const notes: string[] = [];
  const before = await client.marketplace(root);
  if (before !== null && before.source !== "directory")
    throw new LoopError(
      "surroundings",
      `Claude Code knows another marketplace by the name of ${MARKETPLACE} (${before.source}).`,
      `Remove it first: claude plugin marketplace remove ${MARKETPLACE}`,
    );
  if (before?.path !== places.marketplace) {
    await client.addMarketplace(places.marketplace, root);
    if (before?.path != null) notes.push(`The marketplace ${MARKETPLACE} was at ${before.path} before.`);
  }
  const find = async () =>
    (await client.plugins(root)).find(
      (each) =>
        each.id === PLUGIN_ID &&
        each.scope === scope &&
        (scope === "user" || isSameFolder(each.project ?? "", root)),
    );
  const there = await find();
  if (there === undefined) await client.install(scope, root);
  else {
    await client.update(scope, root);
    if (!there.enabled) await client.enable(scope, root);
  }
  const now = await find();
  if (now?.enabled !== true || !isSameFolder(now.folder, places.plugin))
    throw new LoopError(
      "surroundings",
      "Claude Code took the plugin, and does not list it as one that it loads.",
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
    if (checkQuietly(file) !== undefined) return "there";
    if (!io.interactive || flags.json || !(await ask(file))) return "not asked for";
  }
  return write(places, root, file, CAP, "0");
}

/** A project's line would hide one that the person has in another file. */
function writeStatusLine(file: string, root: string, places: Places): SettingState {
  const others = [
    join(places.config, "settings.json"),
    settingsFile(root, "project"),
    settingsFile(root, "user"),
  ].filter((other) => other !== file);
  if (others.some((other) => hasStatusLine(other))) return "elsewhere";
  const program = join(places.plugin, "bin", "loop", "statusline.cjs");
  const quoted = process.platform === "win32" ? `"${program}"` : `'${program.replaceAll("'", "'\\''")}'`;
  const value = { type: "command", command: `node ${quoted}`, refreshInterval: 5 };
  return write(places, root, file, STATUS_LINE, value);
}

function hasStatusLine(file: string): boolean {
  try {
    return checkSettings(file, STATUS_LINE) !== undefined;
  } catch {
    // what cannot be read may have one
    return true;
  }
}

/** Noted before the next thing can go wrong. */
function write(places: Places, root: string, file: string, path: SettingPath, value: unknown): SettingState {
  const written = writeSetting(root, file, path, value);
  if (written === null) return "there";
  writeReceipt(places.receipt, [...readReceipt(places.receipt), written]);
  return "written";
}

/** For a question that nobody asked for, a file that cannot be read is no reason to fail. */
function checkQuietly(file: string): unknown {
  try {
    return checkSettings(file, CAP);
  } catch {
    return null;
  }
}

async function ask(file: string): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({
    message: `Claude Code ends a loop after 8 turns without a tool call. Lift that for this project (one line in ${file})?`,
    initialValue: false,
  });
  return !isCancel(answer) && answer;
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
    written: `Written into ${file}: ${CAP.join(".")} = "0".`,
    there: `${CAP.join(".")} is set in ${file} already and was left as it is.`,
    elsewhere: "",
    "not asked for":
      "Claude Code ends a loop after 8 turns without a tool call; loops then go on by waking it. To lift it: loop install claude --cap",
  };
  const statusLines: Record<SettingState, string> = {
    written: `Written into ${file}: statusLine.`,
    there: `${file} has a statusLine already, which was left as it is.`,
    elsewhere: "There is a statusLine in another of your settings, which was left as it is.",
    "not asked for": "",
  };
  return [
    `Plugin ${PLUGIN_ID} ${VERSION} ${copied ? "copied to" : "is in"} ${places.plugin}`,
    `Installed for ${scope === "user" ? "you, in all projects" : "this project (.claude/settings.json)"}. New conversations have it; open ones after /reload-plugins.`,
    ...(scope === "project" ? ["Whoever else works on it runs the same command once."] : []),
    capLines[cap],
    statusLines[statusLine],
    ...notes,
    "Type in Claude Code: /loopwright help    Check: loop doctor    Undo: loop uninstall claude",
  ]
    .filter((line) => line !== "")
    .join("\n");
}
