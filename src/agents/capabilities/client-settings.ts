/** The settings of other programs, as far as their MCP servers go. A complaint never quotes what is in the file. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { errorCode } from "../../system/files.ts";

export type Fields = Partial<Record<string, unknown>>;

export type Settings =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unreadable"; readonly reason: string };

/** `~/.claude.json` holds histories and grows to some megabytes. */
const MAX_BYTES = 64 * 1024 * 1024;

export function readSettings(path: string): Settings {
  let fd: number;
  try {
    // a pipe in its place must not hold us up
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    return { kind: "unreadable", reason: errorCode(error) ?? "unknown reason" };
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { kind: "unreadable", reason: "not a file" };
    if (stat.size > MAX_BYTES) return { kind: "unreadable", reason: "too large" };
    return { kind: "text", text: readFileSync(fd, "utf8") };
  } catch (error) {
    return { kind: "unreadable", reason: errorCode(error) ?? "unknown reason" };
  } finally {
    closeSync(fd);
  }
}

/** JSON, also with comments and commas before a closing bracket. A string is what is wrong with it. */
export function parseSettings(text: string): Fields | string {
  const plain = text.replace(/^\ufeff/, "");
  if (plain.trim() === "") return {};
  try {
    return asFields(JSON.parse(plain));
  } catch {
    // clients differ in whether they allow comments
  }
  try {
    return asFields(JSON.parse(withoutTrailingCommas(withoutComments(plain))));
  } catch (error) {
    const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message)?.[0] : undefined;
    return place === undefined ? "is not valid JSON" : `is not valid JSON at ${place}`;
  }
}

function asFields(value: unknown): Fields | string {
  return isFields(value) ? value : "has no JSON object in it";
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const STRING = '"(?:\\\\.|[^"\\\\])*"';

/** A space for every letter, so that places stay right. */
function withoutComments(text: string): string {
  const token = new RegExp(`(${STRING})|/\\*[\\s\\S]*?\\*/|//[^\\n]*`, "g");
  return text.replace(token, (found, string?: string) => string ?? found.replaceAll(/[^\n]/g, " "));
}

function withoutTrailingCommas(text: string): string {
  const token = new RegExp(`(${STRING})|,(?=\\s*[}\\]])`, "g");
  return text.replace(token, (_, string?: string) => string ?? " ");
}

const BARE = "[A-Za-z0-9_-]+";
const KEY = `(?:${BARE}|"(?:\\\\.|[^"\\\\])*"|'[^']*')`;
const PATH = `${KEY}(?:\\s*\\.\\s*${KEY})*`;
const HEADER = new RegExp(`^\\s*\\[\\s*(${PATH})\\s*\\]\\s*(?:#.*)?$`);
const LIST_HEADER = new RegExp(`^\\s*\\[\\[\\s*${PATH}\\s*\\]\\]\\s*(?:#.*)?$`);
const ASSIGNMENT = new RegExp(`^\\s*(${PATH})\\s*=\\s*(.*)$`);
const EVERY_KEY = new RegExp(KEY, "g");

/**
 * The tables `[mcp_servers.<name>]` of a TOML file, each with the names of its keys and whether it is turned off. The
 * values are not read: all that is known of them is that they are there.
 */
export function serversOfToml(text: string): Fields | string {
  const servers = new Map<string, Record<string, unknown>>();
  let table: string[] = [];
  let isList = false;
  for (const [at, line] of withoutLongStrings(text).split(/\r?\n/).entries()) {
    const header = HEADER.exec(line)?.[1];
    if (header !== undefined) {
      table = keysOf(header);
      isList = false;
      note(servers, table, null);
    } else if (LIST_HEADER.test(line)) {
      isList = true;
    } else if (/^\s*\[[^\],"']*$/.test(line) && /^\s*\[\s*[A-Za-z]/.test(line)) {
      return `is not valid TOML at line ${at + 1}`;
    } else if (!isList) {
      const [, path, value = ""] = ASSIGNMENT.exec(line) ?? [];
      if (path !== undefined) note(servers, [...table, ...keysOf(path)], value);
    }
  }
  return { mcp_servers: Object.fromEntries(servers) };
}

function note(
  servers: Map<string, Record<string, unknown>>,
  [first, name, key, ...deeper]: readonly string[],
  value: string | null,
): void {
  if (first !== "mcp_servers" || name === undefined) return;
  const server = servers.get(name) ?? {};
  servers.set(name, server);
  if (key === undefined) {
    // an inline table: `name = { command = "…" }`
    for (const [, inner = ""] of (value ?? "").matchAll(/[{,]\s*(command|url)\s*=/g)) server[inner] = true;
    if (/[{,]\s*enabled\s*=\s*false\b/.test(value ?? "")) server.enabled = false;
  } else if (deeper.length === 0 && value !== null) {
    server[key] = key === "enabled" ? !/^false\b/.test(value) : true;
  }
}

function keysOf(path: string): string[] {
  return (path.match(EVERY_KEY) ?? []).map((key) => (/^["']/.test(key) ? key.slice(1, -1) : key));
}

/** What stands in a string of several lines is no table. */
function withoutLongStrings(text: string): string {
  return text.replaceAll(/"""[\s\S]*?"""|'''[\s\S]*?'''/g, (found) => `""${found.replaceAll(/[^\n]/g, "")}`);
}
