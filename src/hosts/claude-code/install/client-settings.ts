/** Reads the settings of Claude Code that affect our hooks, from all of its settings files. Changes nothing. */
import { join } from "node:path";
import {
  isSettingFields,
  parseSettings,
  readSettings,
  type SettingFields,
} from "../../../agents/capabilities/client-settings.ts";
import { tidyLine } from "../../../core/claims/tidy.ts";
import { CAP } from "./project-settings.ts";

const MOST_SHOWN = 160;
/** Settings of an organisation. */
const MANAGED: Partial<Record<NodeJS.Platform, string>> = {
  linux: "/etc/claude-code/managed-settings.json",
  darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
  win32: "C:\\Program Files\\ClaudeCode\\managed-settings.json",
};

interface SettingsText {
  readonly file: string;
  readonly fields: SettingFields;
}

export interface ClientSettings {
  readonly files: readonly SettingsText[];
  /** Files that exist but cannot be read. */
  readonly problems: readonly string[];
}

export interface StopHook {
  readonly file: string;
  /** Its command or prompt, on one line. */
  readonly what: string;
}

export function readClientSettings(config: string, project: string): ClientSettings {
  const managed = MANAGED[process.platform];
  const paths = [
    ...(managed === undefined ? [] : [managed]),
    join(config, "settings.json"),
    join(project, ".claude", "settings.json"),
    join(project, ".claude", "settings.local.json"),
  ];
  const files: SettingsText[] = [];
  const problems: string[] = [];
  for (const file of new Set(paths)) {
    const fields = readFields(file);
    if (typeof fields === "string") problems.push(`${file} ${fields}`);
    else if (fields !== null) files.push({ file, fields });
  }
  return { files, problems };
}

export function stopHooksIn({ files }: ClientSettings): readonly StopHook[] {
  return files.flatMap(({ file, fields }) => hooksOf(file, fields.hooks));
}

/** The stop hooks of a plugin: in its hooks file, or where its manifest says. */
export function stopHooksOfPlugin(folder: string): readonly StopHook[] {
  const manifest = join(folder, ".claude-plugin", "plugin.json");
  const fields = readFields(manifest);
  const named = isSettingFields(fields) ? [fields.hooks].flat() : [];
  const inline = named.filter(isSettingFields).flatMap((value) => hooksOf(manifest, value.hooks ?? value));
  const paths = named.filter((value) => typeof value === "string").map((path) => join(folder, path));
  const files = new Set([join(folder, "hooks", "hooks.json"), ...paths]);
  return [...inline, ...[...files].flatMap(hooksInFile)];
}

/** The file that turns all hooks off; null: hooks are on. */
export function hooksTurnedOff({ files }: ClientSettings): string | null {
  return files.find(({ fields }) => fields.disableAllHooks === true)?.file ?? null;
}

/** The cap that the settings give a conversation in this project. */
export function capIn({ files }: ClientSettings): string | null {
  const [, name = ""] = CAP;
  const values = files.map(({ fields }) => (isSettingFields(fields.env) ? fields.env[name] : undefined));
  const last = values.findLast((value) => value !== undefined);
  return last === undefined ? null : String(last);
}

function hooksInFile(file: string): readonly StopHook[] {
  const fields = readFields(file);
  return isSettingFields(fields) ? hooksOf(file, fields.hooks ?? fields) : [];
}

function hooksOf(file: string, hooks: unknown): readonly StopHook[] {
  const groups = isSettingFields(hooks) ? [hooks.Stop].flat() : [];
  return groups
    .filter(isSettingFields)
    .flatMap((group) => [group.hooks].flat())
    .filter(isSettingFields)
    .map((hook) => ({ file, what: describe(hook) }));
}

function describe(hook: SettingFields): string {
  const words = [hook.command, hook.args, hook.url, hook.prompt, hook.server, hook.tool].flat();
  const text = words.filter((word) => typeof word === "string").join(" ");
  return tidyLine(text === "" ? `a hook of type ${String(hook.type)}` : text, MOST_SHOWN);
}

/** null: no file. A string says what is wrong with the file. */
function readFields(file: string): SettingFields | string | null {
  const read = readSettings(file);
  if (read.kind === "text") return parseSettings(read.text);
  return ["ENOENT", "ENOTDIR"].includes(read.reason) ? null : `cannot be read (${read.reason})`;
}
