/**
 * `loop install pi` and `loop uninstall pi`. Copies the extension and the command line program into a folder that
 * survives npx, updates and deleted checkouts, and registers the folder in pi. A second run changes nothing.
 */
import { execFile } from "node:child_process";
import { cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runVersion } from "../../agents/capabilities/program-version.ts";
import { LoopError } from "../../errors.ts";
import { putFolder } from "../../store/files/put-folder.ts";
import { cannotWrite } from "../../store/folder/loop-dir.ts";
import { readAnyones } from "../../system/files.ts";
import { lookForProgram, withInterpreter } from "../../system/find-program.ts";
import { fieldOf, parseFields, textOf } from "../conversation/fields.ts";
import { lookUpwards, notBuilt } from "../conversation/install/built-files.ts";
import { dataFolder } from "../conversation/install/data-folder.ts";
import { hashFolder } from "../conversation/install/file-hashes.ts";
import { personalSettings } from "./runs/retries.ts";

interface PiInstalled {
  readonly clientVersion: string | null;
  readonly folder: string;
  /** false: the same files were there already. */
  readonly copied: boolean;
  readonly notes: readonly string[];
}

interface PiRemoved {
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

/** The files of dist/ that make up the command line program. */
const COMMAND = ["loop.cjs", "statusline.cjs", "main.js", "chunks"];
const EXTENSION = "extension.cjs";
const PATIENCE_MS = 60_000;
const VERSION_WITHIN_MS = 10_000;

export async function installPi(env: NodeJS.ProcessEnv): Promise<PiInstalled> {
  const pi = findPi(env);
  const source = findBuilt();
  const { version: clientVersion } = await runVersion(pi, ["--version"], env, VERSION_WITHIN_MS);
  const folder = folderOf(env);
  const other = otherSource(env);
  if (other !== null)
    throw new LoopError(
      "surroundings",
      `pi already has Loopwright, from ${other}.`,
      `To install this copy instead, first run: pi remove ${other}`,
    );
  const copied = put(source, folder);
  await run(pi, ["install", folder], env);
  const notes = ["In open conversations, type /reload. New conversations load the extension at once."];
  return { clientVersion, folder, copied, notes };
}

export async function uninstallPi(env: NodeJS.ProcessEnv): Promise<PiRemoved> {
  const folder = folderOf(env);
  if (!existsSync(folder)) return { removed: [], kept: [] };
  await run(findPi(env), ["remove", folder], env).catch((error: unknown) => {
    // the person removed it by hand before: only the folder is left
    if (!/No matching package/.test(String(error))) throw error;
  });
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    throw cannotWrite(folder, error);
  }
  return { removed: [`the extension in ${folder}`], kept: [] };
}

export function folderOf(env: NodeJS.ProcessEnv): string {
  return join(dataFolder(env), "pi");
}

function findPi(env: NodeJS.ProcessEnv): string {
  const { path, reason } = lookForProgram("pi", env, process.cwd());
  if (path !== null) return path;
  throw new LoopError(
    "surroundings",
    `pi ${reason}.`,
    "Install it first: npm install -g @earendil-works/pi-coding-agent",
  );
}

/** This file is a part of a bundle in dist/, of an installed copy, or of a checkout. */
function findBuilt(): string {
  const isBuilt = (dir: string) =>
    existsSync(join(dir, "pi", EXTENSION)) && existsSync(join(dir, "loop.cjs"));
  const isInstalled = (dir: string) =>
    existsSync(join(dir, EXTENSION)) && existsSync(join(dir, "loop", "loop.cjs"));
  const found = lookUpwards(
    (dir) => [dir, join(dir, "dist")].find(isBuilt) ?? (isInstalled(dir) ? dir : null),
  );
  if (found === null) throw notBuilt("extension");
  return found;
}

/** Another copy of Loopwright in the person's settings, which would use the same names; null: none. */
function otherSource(env: NodeJS.ProcessEnv): string | null {
  const packages = fieldOf(parseFields(readAnyones(personalSettings(env))), "packages");
  const sources = (Array.isArray(packages) ? packages : []).map((each: unknown) =>
    typeof each === "string" ? each : textOf(each, "source"),
  );
  return sources.find((source) => /^npm:loopwright(?:@|$)/.test(source)) ?? null;
}

function put(source: string, target: string): boolean {
  if (source === target) return false;
  return putFolder(target, (fresh) => {
    copy(source, fresh);
    return !existsSync(target) || !isSame(target, fresh);
  });
}

function copy(source: string, fresh: string): void {
  if (existsSync(join(source, EXTENSION))) {
    // an installed copy is complete
    cpSync(source, fresh, { recursive: true });
    return;
  }
  cpSync(join(source, "pi"), fresh, { recursive: true });
  for (const name of COMMAND) cpSync(join(source, name), join(fresh, "loop", name), { recursive: true });
  // main.js and chunks are ES modules, as in the package
  writeFileSync(join(fresh, "loop", "package.json"), `${JSON.stringify({ type: "module" })}\n`);
}

function isSame(one: string, other: string): boolean {
  return JSON.stringify(hashFolder(one)) === JSON.stringify(hashFolder(other));
}

function run(pi: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [program, ...words] = withInterpreter([pi, ...args], env, process.cwd());
  return new Promise((resolve, reject) => {
    const child = execFile(program, words, { env, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      if (error === null) return resolve();
      const said = [stderr, stdout].map((text) => text.trim()).find((text) => text !== "") ?? error.message;
      reject(new LoopError("surroundings", `pi ${args.join(" ")} failed: ${said}`, "See: pi list", error));
    });
    child.stdin?.end();
  });
}
