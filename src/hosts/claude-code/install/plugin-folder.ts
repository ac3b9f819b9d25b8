/** The copy of the plugin that the client loads: installs and verifies it. */
import { cpSync, realpathSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { putFolder } from "../../../store/files/put-folder.ts";
import { readAnyones } from "../../../system/files.ts";
import { parseFields, textOf } from "../../conversation/fields.ts";
import { hashFile } from "../../conversation/install/file-hashes.ts";

const HOOKS = "hooks/hooks.json";
const WINDOWS_HOOKS = "hooks/hooks.windows.json";

interface PluginState {
  /** null: there is no readable manifest. */
  readonly version: string | null;
  /** Files that are missing or were changed. */
  readonly wrong: readonly string[];
}

export function putMarketplace(source: string, target: string): "same" | "copied" {
  if (isSameFolder(source, target) || isSameBuild(source, target)) return "same";
  putFolder(target, (fresh) => {
    cpSync(source, fresh, { recursive: true });
    const plugin = join(fresh, "claude-code");
    if (process.platform === "win32") cpSync(join(plugin, WINDOWS_HOOKS), join(plugin, HOOKS));
    return true;
  });
  return "copied";
}

export function readPlugin(plugin: string): PluginState {
  const manifest = parseFields(readAnyones(join(plugin, ".claude-plugin", "plugin.json")));
  const listed = readHashes(plugin);
  return {
    version: textOf(manifest, "version") || null,
    wrong: listed === null ? ["bin/files.json"] : wrongOf(plugin, listed),
  };
}

const hashes = z.record(z.string(), z.string());

function wrongOf(plugin: string, listed: Readonly<Record<string, string>>): readonly string[] {
  const isRight = (file: string, hash: string): boolean => {
    const found = hashFile(join(plugin, file));
    // Windows uses the other hooks file
    return found === hash || (file === HOOKS && found !== null && found === listed[WINDOWS_HOOKS]);
  };
  return Object.entries(listed)
    .filter(([file, hash]) => !isRight(file, hash))
    .map(([file]) => file);
}

/** Follows links. A missing folder is never the same. */
export function isSameFolder(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

function isSameBuild(source: string, target: string): boolean {
  const [wanted, there] = [source, target].map((folder) => readHashes(join(folder, "claude-code")));
  if (wanted == null || there == null || JSON.stringify(wanted) !== JSON.stringify(there)) return false;
  const marketplace = join(".claude-plugin", "marketplace.json");
  return (
    hashFile(join(source, marketplace)) === hashFile(join(target, marketplace)) &&
    wrongOf(join(target, "claude-code"), there).length === 0
  );
}

function readHashes(plugin: string): Readonly<Record<string, string>> | null {
  return hashes.safeParse(parseFields(readAnyones(join(plugin, "bin", "files.json")))).data ?? null;
}
