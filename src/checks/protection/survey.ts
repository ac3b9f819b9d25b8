/** Finds everything that the checks of a goal depend on now, with the criteria that it belongs to. */
import { lstatSync } from "node:fs";
import { join, posix, relative, resolve } from "node:path";
import { commandOf } from "../../core/checks/kinds.ts";
import { compileGlobs } from "../../core/glob.ts";
import { ALL_ROLES, isSource } from "../../core/toolchain/files.ts";
import type { FileRole } from "../../core/toolchain/tool.ts";
import type { ProtectionRules } from "../../ports/checks.ts";
import { type FileHashes, sha256 } from "../files/file-hash.ts";
import { createBreather, type Listings, walkFolders } from "../files/listings.ts";
import { type Found, targetOf } from "../trace/found.ts";
import { closureOf } from "../trace/imports.ts";
import { hashOwn } from "../trace/own-settings.ts";
import {
  hashEntry,
  hashOutside,
  hashPackage,
  type Programs,
  packageOf,
  startedBy,
} from "../trace/programs.ts";
import { type ProjectTree, readTree } from "../trace/project-tree.ts";
import { traceCommand } from "../trace/trace.ts";
import type { IgnoreRules } from "./ignore-rules.ts";
import { readManifest, readValue, scriptNames, sectionsFor } from "./manifest.ts";
import type { ProtectionRecord } from "./record-file.ts";
import { findTestPackages } from "./test-packages.ts";

/**
 * `entry`: a name in `node_modules/.bin`. `program`: a program on the PATH outside the project. `asked`: a file or
 * folder whose existence changes the check. `own`: settings in the person's home folder.
 */
export type EntryKind = ProtectionRecord["entries"][number]["kind"];

/** A file, or what stands for one. */
export interface Place {
  readonly path: string;
  readonly kind: EntryKind;
}

export interface ProtectedEntry extends Place {
  readonly criteria: ReadonlySet<string>;
}

export interface SurveySurroundings {
  readonly root: string;
  readonly hashes: FileHashes;
  readonly listings: Listings;
  readonly programs: Programs;
}

/** Prefix of the name of a program outside the project, used as a path. */
export const PROGRAM = "program:";
const NOT_STAMPED = /^\.\.\/|(?:^|\/)(?:node_modules|\.git)\//;
const RUNNER_CONFIG = /^config:(?:js-test|js-lint|ts|babel)$/;

export interface Survey {
  /** What checks depend on, including missing files. */
  readonly entries: ReadonlyMap<string, ProtectedEntry>;
  /** Files of installed packages that tests import. */
  readonly imported: () => readonly ProtectedEntry[];
  /** Files that no check depends on yet, but a changed check could. */
  readonly others: () => readonly ProtectedEntry[];
  /** All names in the program folders that package managers put before the PATH. */
  readonly installed: () => readonly string[];
}

export async function surveyChecks(
  around: SurveySurroundings,
  rules: ProtectionRules,
  ignore: IgnoreRules,
): Promise<Survey> {
  const tree = await readTree(around.root, around.listings, ignore);
  const entries = new Entries();
  const binFolders = new Set<string>();
  for (const [name, command] of commandsOf(rules)) {
    const found = traceCommand(command, around.root, () => tree.manifests);
    addFound(around, tree, found, entries.adder(name === null ? namesOf(rules) : [name]));
    for (const folder of found.binFolders) binFolders.add(folder);
  }
  addNamed(around, tree, rules.protect, entries.adder(namesOf(rules)));
  const isAllowed = isFree(rules.allowChanges);
  for (const path of [...entries.all.keys()]) if (isAllowed(path)) entries.all.delete(path);
  return {
    entries: entries.all,
    imported: () => findImported(around, entries).filter(({ path }) => !isAllowed(path)),
    others: () => findOthers(around, tree).filter(({ path }) => !entries.all.has(path)),
    installed: () => [...binFolders].flatMap((folder) => namesIn(around, folder)),
  };
}

function findImported({ root }: SurveySurroundings, entries: Entries): ProtectedEntry[] {
  const scripts = [...entries.all.values()].filter(({ kind }) => kind === "file");
  const { files, nearer } = findTestPackages(root, scripts);
  return [
    ...[...files].map(([path, criteria]) => ({ path, kind: "file", criteria }) as const),
    ...[...nearer].map(([path, criteria]) => ({ path, kind: "asked", criteria }) as const),
  ].filter(({ path }) => !entries.all.has(path));
}

function findOthers({ root }: SurveySurroundings, tree: ProjectTree): ProtectedEntry[] {
  const others = new Entries();
  const add = others.adder([]);
  for (const { path, roles } of tree.files) {
    if (roles.length > 0) for (const part of partsOf(root, path, roles)) add(part, "file");
  }
  for (const manifest of tree.manifests) {
    for (const script of scriptNames(readManifest(root, manifest)))
      add(`${manifest}#scripts.${script}`, "value");
    for (const value of sectionsFor(manifest, ALL_ROLES)) add(value, "value");
  }
  return [...others.all.values()];
}

function namesIn({ root, listings }: SurveySurroundings, folder: string): string[] {
  return listings.list(join(root, folder)).files.map((name) => posix.join(folder, name));
}

/** Matches `--allow-changes`. A glob for a file matches the values in the file too. */
export function isFree(allowChanges: readonly string[]): (path: string) => boolean {
  const matches = compileGlobs(allowChanges);
  return (path) => matches(path) || matches(path.replace(/#.*/s, ""));
}

/** null: it does not exist. */
export async function hashOf(around: SurveySurroundings, { path, kind }: Place): Promise<string | null> {
  if (kind === "own") return hashOwn(path, around.hashes);
  const place = join(around.root, path);
  if (kind === "asked") return hashAsked(place, around.hashes);
  if (kind === "file") return path.startsWith("../") ? hashOutside(place) : around.hashes.hash(place);
  if (kind === "entry") return hashEntry(place, around.hashes);
  if (kind === "package") return hashPackage(place, around.hashes, around.listings);
  if (kind === "program") return hashOutside(around.programs.find(path.slice(PROGRAM.length)) ?? "");
  const value = readValue(around.root, path);
  return value === null ? null : sha256(value);
}

/** A folder counts only by its existence. */
function hashAsked(place: string, hashes: FileHashes): string | null | Promise<string | null> {
  try {
    const stat = lstatSync(place, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    return stat.isDirectory() ? sha256("folder") : hashes.hash(place);
  } catch {
    return null;
  }
}

/** Stamps of files in the project at their last hash. Files that package managers and git write have none. */
export function stampsOf({ root, hashes }: SurveySurroundings, places: Iterable<Place>): Map<string, string> {
  const stamps = new Map<string, string>();
  for (const { path, kind } of places) {
    if ((kind !== "file" && kind !== "asked") || NOT_STAMPED.test(path)) continue;
    const sign = hashes.sign(`${root}/${path}`);
    if (sign !== null) stamps.set(path, sign);
  }
  return stamps;
}

class Entries {
  readonly all = new Map<string, ProtectedEntry & { readonly criteria: Set<string> }>();

  /** Adds entries for these criteria. */
  adder(criteria: readonly string[]): Add {
    return (path, kind) => {
      // leave out files of the engine and empty paths
      if (path === "" || path === "." || path === ".loop" || path.startsWith(".loop/runs/")) return;
      const entry = this.all.get(path) ?? { path, kind, criteria: new Set<string>() };
      this.all.set(path, entry);
      for (const name of criteria) entry.criteria.add(name);
    };
  }
}

type Add = (path: string, kind: EntryKind) => void;

/** A name of null means a must-not condition, which belongs to all criteria. */
function commandsOf(rules: ProtectionRules): [name: string | null, command: string][] {
  return [
    ...rules.criteria.flatMap(({ name, check }): [string, string][] => {
      const command = commandOf(check);
      return command === null ? [] : [[name, command]];
    }),
    ...rules.mustNot.flatMap(({ command }): [null, string][] => (command === null ? [] : [[null, command]])),
  ];
}

function namesOf(rules: ProtectionRules): string[] {
  return rules.criteria.map(({ name }) => name);
}

function addFound(around: SurveySurroundings, tree: ProjectTree, found: Found, add: Add): void {
  addStartFiles(around, add);
  for (const path of found.own) add(path, "own");
  for (const path of found.files) {
    add(path, isBin(path) ? "entry" : "file");
    if (!isBin(path)) addTarget(around, path, add);
  }
  for (const path of found.asked) {
    add(path, "asked");
    addTarget(around, path, add);
  }
  for (const path of found.values) add(path, "value");
  const folders = [...found.folders].map((folder) => `${folder}/`);
  for (const { path, roles, isLink } of tree.files) {
    const isIts =
      roles.some((role) => found.roles.has(role)) || folders.some((folder) => path.startsWith(folder));
    if (!isIts) continue;
    for (const part of partsOf(around.root, path, roles)) add(part, "file");
    if (isLink) addTarget(around, path, add);
  }
  addPrograms(around, found, add);
}

/** The file, and the files that it names if it configures a runner. */
function partsOf(root: string, path: string, roles: readonly FileRole[]): readonly string[] {
  return roles.some((role) => RUNNER_CONFIG.test(role)) ? closureOf(root, path, true) : [path];
}

/** Adds the file or folder that a link points to, unless it is the product. */
function addTarget(around: SurveySurroundings, path: string, add: Add): void {
  const target = targetOf(join(around.root, path));
  if (target === null) return;
  const place = relative(around.root, target);
  if (place === "" || place.startsWith("..") || place.includes("node_modules") || isSource(`${place}/`))
    return;
  add(place, "file");
  for (const file of filesBelow(around, place)) add(file, "file");
}

function isBin(path: string): boolean {
  return path.includes("node_modules/.bin/");
}

/** Files that the shell of a check reads at its start. */
function addStartFiles({ root }: SurveySurroundings, add: Add): void {
  for (const value of [process.env.ENV, process.env.BASH_ENV]) {
    const path = value ? relative(root, resolve(root, value)) : "";
    if (!path.startsWith("..")) add(path, "file");
  }
}

function addPrograms({ root, programs }: SurveySurroundings, found: Found, add: Add): void {
  for (const folder of found.binFolders) {
    for (const name of programs.planted(folder, found.programs)) {
      const entry = posix.join(folder, name);
      add(entry, "entry");
      if (found.programs.has(name)) addPackage(root, entry, add);
    }
  }
  for (const path of found.files) if (isBin(path)) addPackage(root, path, add);
  for (const name of found.programs) {
    const place = programs.find(name);
    const own = place === null ? ".." : relative(root, place);
    if (own.startsWith("..")) add(PROGRAM + name, "program");
    else add(own, isBin(own) ? "entry" : "file");
  }
}

function addPackage(root: string, entry: string, add: Add): void {
  const target = startedBy(join(root, entry));
  const home = target === null ? null : packageOf(target);
  if (home !== null) add(relative(root, home), "package");
}

/** Files of `--protect` count for every criterion. */
function addNamed(around: SurveySurroundings, tree: ProjectTree, protect: readonly string[], add: Add): void {
  if (protect.length === 0) return;
  const isNamed = compileGlobs(protect);
  for (const { path } of tree.files) if (isNamed(path)) add(path, "file");
  // also in folders that are normally left out, if the glob names the folder
  for (const glob of protect) {
    const base = plainStart(glob);
    if (base === "" || base.startsWith("..")) continue;
    add(base, "file");
    for (const path of filesBelow(around, base)) if (isNamed(path)) add(path, "file");
  }
}

/** The leading folders of a glob that contain no special character. */
function plainStart(glob: string): string {
  const names = glob
    .replace(/^\.?\//, "")
    .replace(/\/$/, "")
    .split("/");
  if (names.length === 1 && !glob.startsWith("/") && !glob.startsWith("./"))
    return /[*?[\]{}\\]/.test(glob) ? "" : (names[0] ?? "");
  const special = names.findIndex((name) => /[*?[\]{}\\]/.test(name));
  return posix.normalize(names.slice(0, special === -1 ? undefined : special).join("/")).replace(/^\.$/, "");
}

const MAX_NAMED = 20_000;

function filesBelow({ root, listings }: SurveySurroundings, base: string): string[] {
  const found: string[] = [];
  const isEntered = (path: string, name: string) => name !== ".git" && path !== ".loop/runs";
  for (const { prefix, listing } of walkFolders(listings, root, isEntered, base)) {
    if (found.length >= MAX_NAMED) break;
    for (const name of listing.files) found.push(prefix + name);
  }
  return found;
}

/** Hashes all entries and lets other work run in between. */
export async function hashAll(
  around: SurveySurroundings,
  entries: Iterable<Place>,
): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  const breathe = createBreather();
  for (const entry of entries) {
    const hash = await hashOf(around, entry);
    if (hash !== null) hashes.set(entry.path, hash);
    const pause = breathe();
    if (pause !== null) await pause;
  }
  return hashes;
}
