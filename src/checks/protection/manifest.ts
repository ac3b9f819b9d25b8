/** Reads package.json. Only some values belong to checks: a new version or keyword changes no check. */
import { posix } from "node:path";
import type { FileRole } from "../../core/toolchain/tool.ts";
import { readProjectText } from "../trace/found.ts";
import { GIT_SETTINGS, renderGitSettings } from "../trace/git-config.ts";

export type Manifest = Readonly<Record<string, unknown>>;

/** Every script depends on these: the module type and the package manager. */
const ALWAYS = ["type", "workspaces", "packageManager", "config"];
const SECTIONS: readonly (readonly [FileRole, readonly string[]])[] = [
  ["config:js-test", ["jest", "vitest", "mocha", "ava", "tap", "c8", "nyc", "jasmine", "stryker", "wtr"]],
  ["config:babel", ["babel", "browserslist"]],
  ["config:js-lint", ["eslintConfig", "eslintIgnore", "prettier", "stylelint", "xo", "knip"]],
  ["config:monorepo", ["wireit", "nx"]],
];

/** The values of a manifest that belong to the given roles. */
export function sectionsFor(manifest: string, roles: ReadonlySet<FileRole>): string[] {
  const sections = SECTIONS.filter(([role]) => roles.has(role)).flatMap(([, names]) => names);
  return [...ALWAYS, ...sections].map((name) => `${manifest}#${name}`);
}

/** The nearest package.json above the folder, up to the repository's root; null: none. */
export function findManifest(root: string, cwd: string): string | null {
  for (let folder = cwd; ; folder = posix.join(folder, "..")) {
    const path = posix.join(folder, "package.json");
    if (readProjectText(root, path) !== null) return path;
    const isTop = posix.join(root, folder) === "/" || folder.startsWith("../../..");
    if (isTop || readsGit(root, folder)) return null;
  }
}

function readsGit(root: string, folder: string): boolean {
  return (
    readProjectText(root, posix.join(folder, ".git")) !== null ||
    readProjectText(root, posix.join(folder, ".git/HEAD")) !== null
  );
}

/** Parsed manifests. Each is read once for each of its values. */
const PARSED = new Map<string, { readonly text: string; readonly manifest: Manifest | null }>();
const MAX_PARSED = 500;

export function readManifest(root: string, path: string): Manifest | null {
  const text = readProjectText(root, path);
  return text === null ? null : parseManifest(posix.join(root, path), text);
}

function parseManifest(place: string, text: string): Manifest | null {
  const known = PARSED.get(place);
  if (known?.text === text) return known.manifest;
  if (PARSED.size >= MAX_PARSED) PARSED.clear();
  const value = parseJson(text);
  const manifest = isObject(value) ? value : null;
  PARSED.set(place, { text, manifest });
  return manifest;
}

/** null: not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function scriptOf(manifest: Manifest | null, name: string): string | null {
  const scripts = manifest?.scripts;
  const text = isObject(scripts) && Object.hasOwn(scripts, name) ? scripts[name] : null;
  return typeof text === "string" ? text : null;
}

export function scriptNames(manifest: Manifest | null): string[] {
  return isObject(manifest?.scripts) ? Object.keys(manifest.scripts) : [];
}

/** The value of `package.json#scripts.a.b` or `.git/config#settings` as text; null: missing. For a broken manifest, its whole text. */
export function readValue(root: string, path: string): string | null {
  const [file = "", key = ""] = path.split(/#(.*)/s);
  const text = readProjectText(root, file);
  if (text === null) return null;
  if (`#${key}` === GIT_SETTINGS) return renderGitSettings(text);
  const manifest = parseManifest(posix.join(root, file), text);
  if (manifest === null) return `unreadable\n${text}`;
  const dot = key.indexOf(".");
  const section = dot === -1 ? key : key.slice(0, dot);
  const value = Object.hasOwn(manifest, section) ? manifest[section] : undefined;
  if (dot === -1) return value === undefined ? null : render(value);
  const name = key.slice(dot + 1);
  return isObject(value) && Object.hasOwn(value, name) ? render(value[name]) : null;
}

function render(value: unknown): string {
  return typeof value === "string" ? `${value}\n` : `${JSON.stringify(value, null, 2)}\n`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
