/**
 * Finds installed packages that tests import, because tests use them for assertions. Of each package, the manifest and
 * the files that its entry imports count, not its dependencies. It runs only when a record is made: a test that imports
 * another package later was changed itself.
 */
import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { isSource, rolesOf } from "../../core/toolchain/files.ts";
import { readProjectText, realPlace } from "../trace/found.ts";
import { importsIn, locate, modulesIn } from "../trace/imports.ts";
import { type Manifest, readManifest } from "./manifest.ts";

const MAX_PACKAGES = 50;
const MAX_PACKAGE_FILES = 200;
/** All of them are hashed after each turn. */
const MAX_FILES = 1_500;
const MAX_FOLDERS = 100;

export interface TestPackages {
  /** Path → criteria of the tests that import it. */
  readonly files: ReadonlyMap<string, ReadonlySet<string>>;
  /** Missing folders whose packages would come first. */
  readonly nearer: ReadonlyMap<string, ReadonlySet<string>>;
}

interface Script {
  readonly path: string;
  readonly criteria: ReadonlySet<string>;
}

export function findTestPackages(root: string, scripts: Iterable<Script>): TestPackages {
  const files = new Map<string, Set<string>>();
  const nearer = new Map<string, Set<string>>();
  const parts = new Map<string, readonly string[]>();
  const packages = new Set<string>();
  for (const { path, criteria } of scripts) {
    if (isSource(path) && rolesOf(path).length === 0) continue;
    for (const name of packagesIn(path, readProjectText(root, path) ?? "")) {
      const [home, ...before] = homesOf(root, posix.dirname(path), name);
      if (home === undefined || (packages.size >= MAX_PACKAGES && !packages.has(home))) continue;
      packages.add(home);
      const key = `${home} ${name}`;
      const own = parts.get(key) ?? partsOf(root, home, subpathOf(name));
      parts.set(key, own);
      for (const part of own) if (files.size < MAX_FILES) addTo(files, part, criteria);
      for (const folder of before) if (nearer.size < MAX_FOLDERS) addTo(nearer, folder, criteria);
    }
  }
  return { files, nearer };
}

function addTo(places: Map<string, Set<string>>, path: string, criteria: ReadonlySet<string>): void {
  const known = places.get(path) ?? new Set<string>();
  for (const name of criteria) known.add(name);
  places.set(path, known);
}

/** `same`, `@scope/same/part`; not `node:fs` and not `#alias`. */
function packagesIn(path: string, text: string): string[] {
  return modulesIn(path, text).filter(
    (name) => /^(?:@[\w.~-]+\/)?[\w~-][\w.~-]*(?:\/|$)/.test(name) && !isBuiltin(name),
  );
}

function subpathOf(name: string): string {
  return `.${name.replace(/^(?:@[^/]+\/)?[^/]+/, "")}`;
}

/** The folder of the package, then the missing folders that are searched before it. */
function homesOf(root: string, start: string, name: string): string[] {
  const [whole = name] = /^(?:@[^/]+\/)?[^/]+/.exec(name) ?? [];
  const before: string[] = [];
  for (let folder = start; !folder.startsWith("../.."); folder = posix.join(folder, "..")) {
    const modules = posix.join(folder, "node_modules");
    const home = posix.join(modules, whole);
    const place = realPlace(posix.join(root, home));
    // a link into the project is the product
    if (place !== null) return place.includes("/node_modules/") ? [home, ...before] : [];
    if (realPlace(posix.join(root, modules)) === null) before.push(modules);
    if (posix.join(root, folder) === "/") break;
  }
  return [];
}

function partsOf(root: string, home: string, subpath: string): string[] {
  const manifest = readManifest(root, `${home}/package.json`);
  const seen = new Set<string>();
  const open = entriesOf(manifest, subpath).flatMap((entry) => locate(root, home, entry) ?? []);
  for (let path = open.pop(); path !== undefined && seen.size < MAX_PACKAGE_FILES; path = open.pop()) {
    if (seen.has(path) || !path.startsWith(`${home}/`)) continue;
    seen.add(path);
    for (const name of importsIn(path, readProjectText(root, path) ?? "")) {
      const target = locate(root, posix.dirname(path), name);
      if (target !== null) open.push(target);
    }
  }
  return [`${home}/package.json`, ...seen];
}

/** All entry points, for all export conditions. */
function entriesOf(manifest: Manifest | null, subpath: string): string[] {
  const { exports, main, module } = manifest ?? {};
  const isMap = typeof exports === "object" && exports !== null && Object.keys(exports)[0]?.startsWith(".");
  const named = isMap ? (exports as Record<string, unknown>)[subpath] : subpath === "." ? exports : undefined;
  const plain = subpath === "." ? [main, module, "./index.js"] : [subpath];
  return [...leavesOf(named), ...plain.filter((name) => typeof name === "string")]
    .filter((name) => !name.endsWith(".d.ts"))
    .map((name) => (name.startsWith(".") ? name : `./${name}`));
}

function leavesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}
