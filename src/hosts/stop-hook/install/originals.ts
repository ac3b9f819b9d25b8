/**
 * Remembers what an installation changed, so that `loop uninstall` restores it byte for byte: the folders that it
 * created, and each text that removing our part would not restore. In the person's data folder, one file per change.
 */
import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { orNull, readSmall, writeAtomic } from "../../../system/files.ts";
import { dataFolder } from "../../conversation/install/data-folder.ts";
import { hashText } from "../../conversation/install/file-hashes.ts";

const schema = z.object({
  version: z.literal(1),
  file: z.string(),
  /** The text before the installation; null: there was no file. Left out: removing our part restores it. */
  before: z.string().nullable().optional(),
  /** The hash of the text that the installation wrote. */
  after: z.string(),
  /** The folders that it created, deepest first. */
  folders: z.array(z.string()),
});
type Remembered = z.output<typeof schema>;

export function remember(
  env: NodeJS.ProcessEnv,
  entry: Omit<Remembered, "version" | "after">,
  after: string,
): void {
  const path = pathOf(env, entry.file);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomic(path, `${JSON.stringify({ version: 1, ...entry, after: hashText(after) })}\n`);
}

/** null: nothing is known about this file. */
export function recall(env: NodeJS.ProcessEnv, file: string): Remembered | null {
  const known = orNull(() => schema.parse(JSON.parse(readSmall(pathOf(env, file)) ?? "")));
  return known?.file === file ? known : null;
}

/** The text before the installation, if nobody changed the file since; undefined: unknown. */
export function originalOf(known: Remembered | null, text: string | null): string | null | undefined {
  return known !== null && text !== null && known.after === hashText(text) ? known.before : undefined;
}

export function forget(env: NodeJS.ProcessEnv, file: string): void {
  const path = pathOf(env, file);
  rmSync(path, { force: true });
  // only when they are empty
  for (const folder of [dirname(path), dirname(dirname(path))]) orNull(() => rmdirSync(folder));
}

function pathOf(env: NodeJS.ProcessEnv, file: string): string {
  return join(dataFolder(env), "installed", `${hashText(file)}.json`);
}
