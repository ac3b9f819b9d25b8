/** Reads the settings of other programs for their MCP servers. An error message never quotes the file. */
import { closeSync, constants, fstatSync, readFileSync } from "node:fs";
import { parse, TomlError } from "smol-toml";
import { LoopError } from "../../errors.ts";
import { errorCode, openPlain } from "../../system/files.ts";
import { JsoncError, parseJsonc, toValue } from "../../system/jsonc/tree.ts";

export type SettingFields = Partial<Record<string, unknown>>;

export type Settings =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unreadable"; readonly reason: string };

/** `~/.claude.json` contains histories and grows to some megabytes. */
const MAX_BYTES = 64 * 1024 * 1024;

export function readSettings(path: string): Settings {
  let fd: number | null = null;
  try {
    fd = openPlain(path, constants.O_RDONLY);
    if (fstatSync(fd).size > MAX_BYTES) return { kind: "unreadable", reason: "too large" };
    return { kind: "text", text: readFileSync(fd, "utf8") };
  } catch (error) {
    const isOther = error instanceof LoopError || errorCode(error) === "EISDIR";
    return { kind: "unreadable", reason: isOther ? "not a file" : (errorCode(error) ?? "unknown reason") };
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** JSON, comments and trailing commas allowed. A string says what is wrong. */
export function parseSettings(text: string): SettingFields | string {
  const plain = text.replace(/^\ufeff/, "");
  if (plain.trim() === "") return {};
  try {
    return asFields(JSON.parse(plain));
  } catch {
    // try the slower parser for comments
  }
  try {
    return asFields(toValue(parseJsonc(text)));
  } catch (error) {
    return error instanceof JsoncError
      ? `is not valid JSON at ${placeIn(text, error.at)}`
      : "is not valid JSON";
  }
}

function placeIn(text: string, at: number): string {
  const lines = text.slice(0, at).split("\n");
  return `line ${lines.length} column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** A string says what is wrong. */
export function parseToml(text: string): SettingFields | string {
  try {
    return parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    return error instanceof TomlError ? `is not valid TOML at line ${error.line}` : "is not valid TOML";
  }
}

function asFields(value: unknown): SettingFields | string {
  return isSettingFields(value) ? value : "does not contain a JSON object";
}

export function isSettingFields(value: unknown): value is SettingFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
