/**
 * Check integrity (B7): finds the files that checks depend on, hashes them before any work, and compares them after each
 * turn.
 *
 * 1. Each comparison searches again: a file that counts now and did not exist at the start was added.
 * 2. A recorded file always counts, even if no check leads to it any more.
 * 3. An agent cannot remove a file from the list: not by ignore files, git's index or the record.
 * 4. A comparison runs no program.
 * 5. Checks may write again to files that they wrote before any work.
 *
 * Not found, so people name them with `--protect`: tests inside source files (Rust's `mod tests`, doctests), files whose
 * names a script computes, dependencies of runners and of packages that tests import, and a folder that is moved away
 * and back while a check runs.
 */
import { dirname, join, resolve } from "node:path";
import type { ProtectedChange } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import { mayHoldSecrets } from "../../core/toolchain/files.ts";
import type { Protection, ProtectionRules, ProtectionState, Stamps } from "../../ports/checks.ts";
import { createFileHashes, readPlain } from "../files/file-hash.ts";
import { createListings } from "../files/listings.ts";
import { linkText, realPlace } from "../trace/found.ts";
import { GIT_SETTINGS } from "../trace/git-config.ts";
import { createPrograms } from "../trace/programs.ts";
import { createIgnoreRules, type IgnoreRules } from "./ignore-rules.ts";
import { renderDiff } from "./line-diff.ts";
import { readValue } from "./manifest.ts";
import {
  type Originals,
  type ProtectionRecord,
  readOriginals,
  readProtectionRecord,
  writeProtectionRecord,
} from "./record-file.ts";
import {
  type EntryKind,
  hashAll,
  hashOf,
  isFree,
  type Place,
  PROGRAM,
  type ProtectedEntry,
  type SurveySurroundings,
  stampsOf,
  surveyChecks,
} from "./survey.ts";

const MAX_ORIGINAL_BYTES = 256 * 1024;
const MAX_ORIGINALS_BYTES = 20 * 1024 * 1024;

/** A record that was verified in this process. */
interface Known {
  readonly digest: string;
  readonly record: ProtectionRecord;
  readonly ignore: IgnoreRules;
}

export function createProtection(projectDir: string): Protection {
  // paths are compared as text, so links are resolved first
  const root = realPlace(projectDir) ?? resolve(projectDir);
  const listings = createListings();
  const around: SurveySurroundings = {
    root,
    listings,
    hashes: createFileHashes(),
    programs: createPrograms(root, listings),
  };
  const known = new Map<LoopId, Known>();
  return {
    async stamps(rules) {
      const { entries } = await surveyChecks(around, rules, createIgnoreRules(root, null));
      await hashAll(around, entries.values());
      return stampsOf(around, entries.values());
    },

    async record(loopId, rules, before) {
      const ignore = createIgnoreRules(root, null);
      const survey = await surveyChecks(around, rules, ignore);
      const all = [...survey.entries.values(), ...survey.imported(), ...survey.others()].sort(byPath);
      const hashes = await hashAll(around, all);
      const present = all.filter(({ path }) => hashes.has(path));
      const own = present.filter(({ criteria }) => criteria.size > 0);
      const others = present.filter(({ criteria }) => criteria.size === 0);
      const record = {
        version: 1 as const,
        entries: present.map(({ path, kind, criteria }) => ({
          path,
          kind,
          hash: hashes.get(path) ?? "",
          criteria: [...criteria],
        })),
        missing: all
          .filter(({ path, kind }) => (kind === "program" || kind === "asked") && !hashes.has(path))
          .map(({ path }) => path),
        written: rewritten(before, stampsOf(around, survey.entries.values())),
        installed: [...survey.installed()],
        pathFolders: [...around.programs.outside],
        ignore: { ...ignore.texts() },
      };
      const digest = writeProtectionRecord(root, loopId, record, readTexts(root, [...own, ...others]));
      return { digest, count: own.length };
    },

    async compare(loopId, digest, rules): Promise<ProtectionState> {
      const last = known.get(loopId);
      const before = last?.digest === digest ? last : undefined;
      const read = readProtectionRecord(root, loopId, digest, before?.record);
      if (read.kind === "unusable") return { kind: "tampered", reason: read.reason };
      const ignore = before?.ignore ?? createIgnoreRules(root, read.record.ignore);
      known.set(loopId, { digest, record: read.record, ignore });
      return { kind: "known", ...(await findChanges(around, read.record, ignore, rules)) };
    },

    async diff(loopId, change) {
      const read = readProtectionRecord(root, loopId, known.get(loopId)?.digest ?? null);
      if (read.kind === "unusable") return `${change.path}: ${read.reason}.\n`;
      const entry = read.record.entries.find(({ path }) => path === change.path);
      const kind = entry?.kind ?? kindOf(change.path);
      const originals = entry === undefined ? {} : readOriginals(root, loopId, read.record);
      const text = describe(root, change, kind, originals);
      const hash = await hashOf(around, { path: change.path, kind });
      return hash === change.hash ? text : `${text}It changed again after the comparison.\n`;
    },
  };
}

async function findChanges(
  around: SurveySurroundings,
  record: ProtectionRecord,
  ignore: IgnoreRules,
  rules: ProtectionRules,
): Promise<Pick<Extract<ProtectionState, { kind: "known" }>, "changes" | "stamps">> {
  const { entries: present } = await surveyChecks(around, rules, ignore);
  const recorded = new Map(record.entries.map((entry) => [entry.path, entry]));
  const own = record.entries.filter(({ criteria }) => criteria.length > 0);
  const isAllowed = isFree(rules.allowChanges);
  const missing = record.missing.filter((path) => !path.startsWith(PROGRAM));
  const all = new Map<string, Place>([
    ...missing.map((path) => [path, { path, kind: "asked" }] as const),
    ...present,
    ...own.map((entry) => [entry.path, entry] as const),
  ]);
  const hashes = await hashAll(around, all.values());
  const changes: ProtectedChange[] = [];
  for (const place of [...all.values()].sort(byPath)) {
    const { path } = place;
    const before = recorded.get(path)?.hash ?? null;
    const hash = hashes.get(path) ?? null;
    if (before === hash || isAllowed(path) || !isWork(around, record, place, before !== null)) continue;
    const criteria = new Set([
      ...(recorded.get(path)?.criteria ?? []),
      ...(present.get(path)?.criteria ?? []),
    ]);
    const change = before === null ? "added" : hash === null ? "deleted" : "changed";
    changes.push({ path, change, hash, criteria: [...criteria] });
  }
  const stamps = stampsOf(around, all.values());
  for (const path of record.written ?? []) stamps.delete(path);
  return { changes, stamps };
}

function rewritten(before: Stamps, after: Stamps): string[] {
  return [...after].flatMap(([path, stamp]) => (before.get(path) === stamp ? [] : [path])).sort();
}

/** A changed script can lead to programs that existed before. Only the script is reported, not the programs. */
function isWork(
  around: SurveySurroundings,
  record: ProtectionRecord,
  { path, kind }: Place,
  isRecorded: boolean,
): boolean {
  if (kind === "program")
    return (isRecorded || record.missing.includes(path)) && isOnPath(around, record, path);
  if (kind === "package") return isRecorded;
  // a check may change its own cache in each run
  if (kind === "asked") return record.written !== undefined && !record.written.includes(path);
  if (kind === "own") return isRecorded || record.written !== undefined;
  return kind !== "entry" || isRecorded || !record.installed.includes(path);
}

/** A person may continue with another PATH. A program counts only in a folder of the recorded PATH. */
function isOnPath({ programs }: SurveySurroundings, record: ProtectionRecord, path: string): boolean {
  const place = programs.find(path.slice(PROGRAM.length));
  return place === null || record.pathFolders.includes(dirname(place));
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

/** The texts for later diffs, up to a total size. */
function readTexts(root: string, entries: readonly ProtectedEntry[]): Originals {
  const texts: Originals = {};
  let bytes = 0;
  for (const { path, kind } of entries) {
    const text = textOf(root, path, kind);
    if (text === null || bytes + text.length > MAX_ORIGINALS_BYTES) continue;
    bytes += text.length;
    texts[path] = text;
  }
  return texts;
}

/** null: it cannot be shown. */
function textOf(root: string, path: string, kind: EntryKind): string | null {
  if (mayHoldSecrets(path)) return null;
  if (kind === "value") return readValue(root, path);
  if ((kind !== "file" && kind !== "asked") || path.includes("node_modules/")) return null;
  const bytes = readPlain(join(root, path), MAX_ORIGINAL_BYTES);
  if (bytes === null) {
    const target = linkText(join(root, path));
    return target === null ? null : `link to ${target}\n`;
  }
  const text = bytes.toString("utf8");
  return text.includes("\0") || !Buffer.from(text).equals(bytes) ? null : text;
}

function kindOf(path: string): EntryKind {
  if (path.startsWith(PROGRAM)) return "program";
  if (path.includes("node_modules/.bin/")) return "entry";
  if (path.startsWith("~/") || path.startsWith("/")) return "own";
  if (/(?:^|\/)package\.json#/.test(path) || path.endsWith(GIT_SETTINGS)) return "value";
  return path.startsWith("../") ? "file" : "asked";
}

function describe(
  root: string,
  change: ProtectedChange,
  kind: EntryKind,
  originals: Originals | null,
): string {
  const { path } = change;
  if (mayHoldSecrets(path) || kind === "own")
    return `${path} was ${change.change}. It is not shown because it may contain secrets.\n`;
  if (kind === "program") return `${path.slice(PROGRAM.length)}: the program was ${change.change}.\n`;
  if (kind === "package") return `${path}: files of the installed package were ${change.change}.\n`;
  if (path.includes("node_modules/") && kind === "file")
    return `${path}: a file of an installed package was ${change.change}.\n`;
  if (kind === "entry") return `${path}: the program, or a file that it starts, was ${change.change}.\n`;
  if (originals === null)
    return `${path} was ${change.change}. The saved copy of the old content is missing or was changed.\n`;
  const before = change.change === "added" ? "" : (originals[path] ?? null);
  const after = change.change === "deleted" ? "" : textOf(root, path, kind);
  if (before === null || after === null)
    return `${path} was ${change.change}. It is binary or too large to show.\n`;
  return renderDiff(path, before, after) || `${path}: only the file mode changed.\n`;
}
