/**
 * The program that a person's own hooks start: a small shell script and a copy of the command line program that survives
 * npx, updates and deleted checkouts. All clients share one copy.
 */
import { chmodSync, cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { putFolder } from "../../../store/files/put-folder.ts";
import { cannotWrite } from "../../../store/folder/loop-dir.ts";
import { readSmall } from "../../../system/files.ts";
import { builtMarketplace, lookUpwards } from "../../conversation/install/built-files.ts";
import { dataFolder } from "../../conversation/install/data-folder.ts";
import { hashFile, hashFolder, hashText } from "../../conversation/install/file-hashes.ts";
import { HOOK_PROGRAM, renderHookProgram } from "./shell.ts";

const LIST = "files.json";

export function programFolder(env: NodeJS.ProcessEnv): string {
  return join(dataFolder(env), "hooks");
}

/** Is the copy complete and from the same build as the running program? */
export function isProgramCurrent(folder: string): boolean {
  return readSmall(join(folder, LIST)) === wantedFiles().wanted && brokenFiles(folder).length === 0;
}

/** Files that are missing or were changed. Without a list of files, the list itself is reported. */
export function brokenFiles(folder: string): readonly string[] {
  const list = readSmall(join(folder, LIST));
  if (list === null) return [LIST];
  const files = JSON.parse(list) as Readonly<Record<string, string>>;
  return Object.entries(files)
    .filter(([file, hash]) => hashFile(join(folder, file)) !== hash)
    .map(([file]) => file);
}

export function putProgram(folder: string): void {
  const { source, wanted } = wantedFiles();
  putFolder(folder, (fresh) => {
    cpSync(source, join(fresh, "loop"), { recursive: true });
    const program = join(fresh, HOOK_PROGRAM);
    writeFileSync(program, renderHookProgram());
    chmodSync(program, 0o755);
    writeFileSync(join(fresh, LIST), wanted);
    return true;
  });
}

export function removeProgram(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    throw cannotWrite(folder, error);
  }
}

function wantedFiles(): { readonly source: string; readonly wanted: string } {
  const source = runningProgram() ?? join(builtMarketplace(), "claude-code", "bin", "loop");
  const hashes = hashFolder(source).map(([file, hash]) => [`loop/${file}`, hash]);
  const program = hashText(renderHookProgram());
  const wanted = `${JSON.stringify(Object.fromEntries([[HOOK_PROGRAM, program], ...hashes]), null, 2)}\n`;
  return { source, wanted };
}

/** The folder of the running program if it is an installed copy; null: it is not. */
function runningProgram(): string | null {
  const isInstalled = (dir: string) =>
    existsSync(join(dir, "loop.cjs")) && existsSync(join(dirname(dir), HOOK_PROGRAM));
  return lookUpwards((dir) => (isInstalled(dir) ? dir : null));
}
