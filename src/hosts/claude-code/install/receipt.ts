/**
 * What an installation wrote into settings that are not ours, kept beside the copied plugin: `loop uninstall` takes
 * back exactly that. Without the file nothing is taken back.
 */
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";
import { LoopError } from "../../../errors.ts";
import { cannotWrite } from "../../../store/folder/loop-dir.ts";
import { readSmall, writeAtomic } from "../../../system/files.ts";

const writtenSetting = z.object({
  file: z.string(),
  path: z.union([z.tuple([z.string()]), z.tuple([z.string(), z.string()])]),
  value: z.unknown(),
  /** What was not there before: it goes with the setting when nothing else is in it. */
  made: z.object({ folder: z.boolean(), file: z.boolean(), parent: z.boolean() }),
});
const receiptFile = z.object({ version: z.literal(1), settings: z.array(writtenSetting) });

export type WrittenSetting = z.output<typeof writtenSetting>;

export function readReceipt(path: string): readonly WrittenSetting[] {
  const text = readSmall(path);
  if (text === null) return [];
  try {
    return receiptFile.parse(JSON.parse(text)).settings;
  } catch (error) {
    throw new LoopError(
      "surroundings",
      `${path} cannot be read: what was written into settings is not known any more.`,
      "Look at it, then remove it.",
      error,
    );
  }
}

export function writeReceipt(path: string, settings: readonly WrittenSetting[]): void {
  try {
    if (settings.length === 0) rmSync(path, { force: true });
    else {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeAtomic(path, `${JSON.stringify({ version: 1, settings }, null, 2)}\n`);
    }
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
