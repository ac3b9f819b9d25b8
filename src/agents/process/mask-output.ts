/**
 * Masks secrets in the output that an agent's process wrote itself, after the turn. The file keeps its length and its
 * inode: readers hold places in it, and a file of a later attempt must not be replaced.
 */
import { closeSync, constants, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { filledLabel, type Mask, NO_MASK } from "../../core/secrets/mask.ts";
import { createMaskStream } from "../../core/secrets/mask-stream.ts";
import { lookAt, openToChange } from "../../system/files.ts";
import { currentMask } from "../../system/secrets.ts";
import { quietly } from "../quietly.ts";
import { type OutputFile, readOutput } from "./run-folder.ts";

const BLOCK_BYTES = 1024 * 1024;

/** The masked end of the output; null: the agent replaced or removed the file. Masks the file too. */
export function takeOutput(folder: string, name: OutputFile, capBytes: number): string | null {
  const mask = currentMask();
  const path = join(folder, name);
  // before it is cut: half a secret is not recognised
  const isLong = lookAt(path).size > capBytes;
  if (isLong) maskFile(mask, path);
  const text = readOutput(folder, name, capBytes);
  if (text === null || mask === NO_MASK) return text;
  const masked = mask.text(text);
  if (masked !== text && !isLong) maskFile(mask, path);
  return masked;
}

/** Never throws: a file that cannot be changed stays as the agent wrote it. */
function maskFile(mask: Mask, path: string): void {
  const file = quietly(() => openToChange(path, constants.O_RDWR));
  if (file === null) return;
  quietly(() => maskBytes(mask, file));
  closeSync(file);
}

/** Bytes are read as characters of one byte, so that places in the text are places in the file. */
function maskBytes(mask: Mask, file: number): void {
  const stream = createMaskStream(mask, filledLabel);
  const block = Buffer.alloc(BLOCK_BYTES);
  let unwritten = "";
  let at = 0;
  const write = (masked: string) => {
    const before = unwritten.slice(0, masked.length);
    if (masked !== before) writeSync(file, Buffer.from(masked, "latin1"), 0, masked.length, at);
    unwritten = unwritten.slice(masked.length);
    at += masked.length;
  };
  for (let read = 0, length = -1; length !== 0; read += length) {
    length = readSync(file, block, 0, block.length, read);
    const text = block.toString("latin1", 0, length);
    unwritten += text;
    write(length === 0 ? stream.end() : stream.push(text));
  }
}
