/**
 * `loop uninstall claude`: removes what `loop install claude` added and nothing else: the plugin, the marketplace,
 * the copied folder, and unchanged lines in settings.
 *
 * JSON: `{ version: 1, client, removed: [what], kept: [what and why] }`.
 */
import { existsSync, rmdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { surroundingsError, usageError } from "../../errors.ts";
import { type InstalledPlugin, lookForClient, PluginClient } from "../../hosts/claude-code/install/client.ts";
import { MARKETPLACE, PLUGIN_ID, type Places, placesOf } from "../../hosts/claude-code/install/places.ts";
import { isSameFolder } from "../../hosts/claude-code/install/plugin-folder.ts";
import { removeSetting } from "../../hosts/claude-code/install/project-settings.ts";
import { readReceipt, type WrittenSetting, writeReceipt } from "../../hosts/claude-code/install/receipt.ts";
import { isClientName } from "../../hosts/stop-hook/clients/client.ts";
import { cannotWrite } from "../../store/folder/loop-dir.ts";
import { answer, type Io } from "../io.ts";
import type { ProjectFlags } from "../project.ts";
import { checkClient, projectFolder } from "./install.ts";
import { renderUninstalled } from "./install-client.ts";

export interface UninstallFlags extends ProjectFlags {
  readonly scope?: string;
  readonly dryRun?: boolean;
}

interface Told {
  readonly removed: string[];
  readonly kept: string[];
}

export async function uninstallCommand(client: string, flags: UninstallFlags, io: Io): Promise<number> {
  const scope = checkClient(client, flags);
  const root = projectFolder(flags);
  if (client === "pi") return (await import("./install-pi.ts")).uninstallPiCommand(flags, io);
  if (isClientName(client)) {
    const { uninstallClient } = await import("./install-client.ts");
    return uninstallClient(client, flags.scope === undefined ? null : scope, root, flags, io);
  }
  if (flags.dryRun) throw usageError("--dry-run does not work for claude; leave it out.");
  const places = placesOf(process.env);
  const settings = readReceipt(places.receipt);
  const { path: claude, reason } = lookForClient(process.env);
  if (claude === null)
    throw surroundingsError(
      `claude ${reason}, and only claude can remove the plugin. Nothing was changed.`,
      "Add Claude Code to the PATH and try again.",
    );
  const told: Told = { removed: [], kept: [] };
  const program = new PluginClient(claude, process.env);
  const left = await removePlugin(program, root, flags.scope, told);
  if (left.length === 0) {
    await removeMarketplace(program, places, root, told);
    removeSettings(settings, places, told);
    removeFolder(places, told);
  } else for (const each of left) told.kept.push(`the plugin, still installed for ${whose(each)}`);

  return answer(flags, io, { version: 1, client, ...told }, renderUninstalled("Claude Code", told));
}

/** Returns the installations that stay. Those of deleted projects do not count. */
async function removePlugin(
  client: PluginClient,
  root: string,
  scope: string | undefined,
  told: Told,
): Promise<readonly InstalledPlugin[]> {
  const isThere = ({ id, project }: InstalledPlugin) =>
    id === PLUGIN_ID && (project === null || existsSync(project));
  const isMeant = (each: InstalledPlugin) =>
    scope === undefined ||
    (each.scope === scope && (scope === "user" || isSameFolder(each.project ?? "", root)));
  const ours = (await client.plugins(root)).filter(isThere);
  for (const each of ours.filter(isMeant)) {
    await client.change("uninstall", each.scope, each.project ?? root);
    told.removed.push(`the plugin for ${whose(each)}`);
  }
  return (await client.plugins(root)).filter(isThere);
}

/** Removes the marketplace only if it leads to our folder. */
async function removeMarketplace(
  client: PluginClient,
  places: Places,
  root: string,
  told: Told,
): Promise<void> {
  const known = await client.marketplace(root);
  if (known === null) return;
  if (known.path !== null && isSameFolder(known.path, places.marketplace)) {
    await client.removeMarketplace(root);
    told.removed.push(`the marketplace ${MARKETPLACE}`);
  } else
    told.kept.push(
      `the marketplace ${MARKETPLACE}, which is not from Loopwright (${known.path ?? known.source})`,
    );
}

/** Last setting first: the first one may have created the file, which must be empty to be removed. */
function removeSettings(settings: readonly WrittenSetting[], places: Places, told: Told): void {
  for (const [index, setting] of [...settings.entries()].reverse()) {
    const name = `${setting.path.join(".")} in ${setting.file}`;
    if (removeSetting(setting)) told.removed.push(name);
    else told.kept.push(`${name}, which was changed after the installation`);
    writeReceipt(places.receipt, settings.slice(0, index));
  }
}

function removeFolder({ marketplace }: Places, told: Told): void {
  if (!existsSync(marketplace)) return;
  try {
    rmSync(marketplace, { recursive: true });
  } catch (error) {
    throw cannotWrite(marketplace, error);
  }
  told.removed.push(marketplace);
  try {
    rmdirSync(dirname(marketplace));
  } catch {
    // the folder is not empty
  }
}

function whose({ scope, project }: InstalledPlugin): string {
  return project === null ? scope : `${scope} ${project}`;
}
