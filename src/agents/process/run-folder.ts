/**
 * Owns `.loop/runs/<loop>/<turn>/`: the input and output of a turn, in files that outlive the runner.
 *
 *   prompt.txt  format.txt                written here, before the start; format.txt names the format of the output
 *   answer.txt  stderr.txt                written by the agent, so they may contain anything
 *   ticket.* exit.*  and  ../intent.*      see ticket.ts
 *
 * Must not empty or replace answer.txt and stderr.txt: a runner that was frozen would do that to the output of a later
 * attempt. After the turn, secrets in these files are masked in place (mask-output.ts).
 *
 * 1. Nothing is written outside the project, whatever the ids and whatever links the repository contains.
 * 2. Folders are 0700, files 0600. Only files that a recovery needs are synced, because a sync is slow.
 * 3. A running turn is never pruned.
 */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  lstatSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Turn } from "../../ports/agent.ts";
import {
  errorCode,
  isOwn,
  lookAt,
  openOwn,
  openToChange,
  readEndOf,
  readSmallFile,
  writeAtomic,
} from "../../system/files.ts";
import { isInside, makeInside } from "../../system/inside.ts";
import { quietly } from "../quietly.ts";
import { isRunning, pruneIntents, writeIntent } from "./ticket.ts";

const OUTPUTS = ["answer.txt", "stderr.txt"] as const;
export type OutputFile = (typeof OUTPUTS)[number];

/** The folder of a turn. Throws for an invalid id. */
export function runFolder(projectDir: string, turn: Pick<Turn, "loopId" | "id" | "run">): string {
  const run = turn.run ?? turn.id;
  for (const id of [turn.loopId, run]) {
    if (!/^[A-Za-z0-9._-]+$/.test(id) || id === "." || id === "..") {
      throw new Error(`${JSON.stringify(id)} is not a valid id`);
    }
  }
  return join(resolve(projectDir), ".loop", "runs", turn.loopId, run);
}

/** Creates the folder if needed. Throws when that is impossible or unsafe. */
export function openFolder(projectDir: string, turn: Turn): string {
  if (!Number.isSafeInteger(turn.token)) throw new Error(`${turn.token} is not a valid token`);
  const folder = runFolder(projectDir, turn);
  if (!existsSync(projectDir)) throw new Error(`the folder ${projectDir} does not exist`);
  return makeInside(resolve(projectDir), folder);
}

/** Creates the folder with everything that a start needs. Throws like `openFolder`. */
export function prepareFolder(projectDir: string, turn: Turn, format: string): string {
  const folder = openFolder(projectDir, turn);
  chmodSync(folder, 0o700);
  for (const name of OUTPUTS) {
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stat !== undefined && !stat.isFile()) throw new Error(`${name} in the run folder is not a file`);
    if (stat !== undefined && !isOwn(stat))
      throw new Error(`${name} in the run folder belongs to another user`);
  }
  writeInput(promptFile(folder), turn.text);
  if (format !== "text") writeInput(join(folder, "format.txt"), format);
  writeIntent(folder, turn.token);
  return folder;
}

function writeInput(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    // from an earlier attempt, whose agent may still read the file
    writeAtomic(path, text, false);
  }
}

/** Plain text when the folder has no format: a command, or a turn of an earlier version. */
export function formatIn(folder: string): string {
  return readSmallFile(join(folder, "format.txt"), 100) ?? "text";
}

export function promptFile(folder: string): string {
  return join(folder, "prompt.txt");
}

/** The end of the agent's output; null: the agent replaced or removed the file. */
export function readOutput(folder: string, name: OutputFile, capBytes: number): string | null {
  return quietly(() => readEndOf(join(folder, name), capBytes, openOwn));
}

export function findFlood(folder: string, maxBytes: number): OutputFile | undefined {
  return OUTPUTS.find((name) => lookAt(join(folder, name)).size > maxBytes);
}

/** Gives the space of a flood back. */
export function cutOutputs(folder: string, maxBytes: number): void {
  for (const name of OUTPUTS)
    quietly(() => {
      if (lookAt(join(folder, name)).size <= maxBytes) return;
      const file = openToChange(join(folder, name), constants.O_WRONLY);
      try {
        ftruncateSync(file, maxBytes);
      } finally {
        closeSync(file);
      }
    });
}

/** Deletes all runs of the loop except the newest ones. Never throws: it only cleans up. */
export function pruneRuns(current: string, keep: number): void {
  try {
    const loopFolder = dirname(current);
    const entries = readdirSync(loopFolder, { withFileTypes: true });
    if (entries.length <= keep) return;
    pruneIntents(loopFolder, keep);
    const others = entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(loopFolder, entry.name))
      .filter((path) => path !== current)
      .map((path) => ({ path, at: lookAt(path).mtimeMs }))
      .sort((a, b) => b.at - a.at);
    for (const { path } of others.slice(Math.max(0, keep - 1))) {
      if (!isRunning(path)) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // the next turn tries again
  }
}

const KEPT_MS = 7 * 86_400_000;

/** Removes `.loop/runs/<id>` for unknown ids after a week. Never throws, and never touches a running turn. */
export function removeEndedRuns(projectDir: string, isKnown: (id: string) => boolean, now: number): void {
  const runs = join(projectDir, ".loop", "runs");
  try {
    if (!isInside(projectDir, runs)) return;
    for (const id of readdirSync(runs)) {
      const folder = join(runs, id);
      if (/^[0-9a-f]{8}$/.test(id) && !isKnown(id) && isOver(folder, now - KEPT_MS))
        rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    // the next runner tries again
  }
}

function isOver(folder: string, before: number): boolean {
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.mtimeMs >= before) return false;
  return readdirSync(folder).every((name) => {
    const run = join(folder, name);
    const inner = lstatSync(run);
    return inner.mtimeMs < before && !(inner.isDirectory() && isRunning(run));
  });
}
