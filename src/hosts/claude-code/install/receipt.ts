/** Records the settings that an installation wrote. `loop uninstall` removes exactly these, and nothing without the file. */
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
  /** What the installation created. Uninstall removes it too if it is empty. */
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
      `${path} cannot be read, so the installed settings are unknown.`,
      "Remove the settings by hand, then delete this file.",
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
