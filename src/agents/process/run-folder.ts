/**
 * Owns `.loop/runs/<loop>/<turn>/`: what goes into a turn and comes out, as files, which outlive the runner.
 *
 *   prompt.txt  format.txt                written here, before the start; the format is that of the agent's output
 *   answer.txt  stderr.txt                written by the agent, so they may be anything by now
 *   ticket.* exit.*  and  ../intent.*      see ticket.ts
 *
 * Must not open answer.txt or stderr.txt for writing: a runner that was frozen for an hour would truncate what
 * a later attempt wrote.
 *
 * 1. Nothing is written outside the project, whatever the ids are and whatever links a repository brings along.
 * 2. Folders are 0700, files 0600. On disk is only what a recovery relies on: each sync costs more than all the rest.
 * 3. A run whose agent is still there is never pruned.
 */
import {
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Turn } from "../../ports/agent.ts";
import { errorCode, lookAt, readEndOf, writeAtomic } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { readSmallFile } from "../../system/small-file.ts";
import { isRunning, pruneIntents, writeIntent } from "./ticket.ts";

const OUTPUTS = ["answer.txt", "stderr.txt"] as const;
export type OutputFile = (typeof OUTPUTS)[number];

/** How an agent's output has to be read (`activity/formats.ts`). */
const OUTPUT_FORMATS = ["text", "claude", "codex", "gemini", "opencode", "pi", "acp"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Where the files of a turn are. Throws for an id that is no plain name. */
export function runFolder(projectDir: string, turn: Pick<Turn, "loopId" | "id" | "run">): string {
  const run = turn.run ?? turn.id;
  for (const id of [turn.loopId, run]) {
    if (!/^[A-Za-z0-9._-]+$/.test(id) || id === "." || id === "..") {
      throw new Error(`${JSON.stringify(id)} is no valid id`);
    }
  }
  return join(resolve(projectDir), ".loop", "runs", turn.loopId, run);
}

/** Makes the folder if need be. Throws where that cannot or must not be done. */
export function openFolder(projectDir: string, turn: Turn): string {
  if (!Number.isSafeInteger(turn.token)) throw new Error(`${turn.token} is no valid token`);
  const folder = runFolder(projectDir, turn);
  if (!existsSync(projectDir)) throw new Error(`there is no folder ${projectDir}`);
  refuseLinks(projectDir, folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The folder with the prompt and the intent in it: all that a start needs. Throws as `openFolder` does. */
export function prepareFolder(projectDir: string, turn: Turn, format: OutputFormat): string {
  const folder = openFolder(projectDir, turn);
  chmodSync(folder, 0o700);
  for (const name of OUTPUTS) {
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stat !== undefined && !stat.isFile()) throw new Error(`${name} in it is not a file`);
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
    // of an earlier attempt, whose agent may still be reading it
    writeAtomic(path, text, false);
  }
}

/** Plain text where the folder does not say: a command, or a turn of an earlier version. */
export function formatIn(folder: string): OutputFormat {
  const name = readSmallFile(join(folder, "format.txt"), 100);
  return OUTPUT_FORMATS.find((format) => format === name) ?? "text";
}

export function promptFile(folder: string): string {
  return join(folder, "prompt.txt");
}

/** The end of what the agent printed; null: it replaced the file by a link, a pipe, nothing. */
export function readOutput(folder: string, name: OutputFile, capBytes: number): string | null {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    return readEndOf(join(folder, name), capBytes, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return null;
  }
}

/** The file to which the agent printed more than it may. */
export function findFlood(folder: string, maxBytes: number): OutputFile | undefined {
  return OUTPUTS.find((name) => lookAt(join(folder, name)).size > maxBytes);
}

/** Deletes all but the newest runs of the loop that `current` belongs to. Never throws: it is mere tidiness. */
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

/** What a repository brings along as `.loop` must not make us write elsewhere. */
function refuseLinks(projectDir: string, folder: string): void {
  for (let path = folder; path !== projectDir; path = dirname(path)) {
    if (existsSync(path)) {
      // where it leads includes where everything above it leads
      if (!isInside(projectDir, path)) throw new Error(`${path} leads out of the project`);
      return;
    }
    // a link to nowhere does not exist either, and mkdir would follow it
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new Error(`${path} leads nowhere`);
  }
}
