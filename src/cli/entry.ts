#!/usr/bin/env node
/**
 * The file behind the command `loop`, built as one small CommonJS bundle. It answers `loop list` by itself, since
 * status lines and people ask for it all the time; everything else is loaded from the full program beside it.
 */
import { pathToFileURL } from "node:url";
import { type ListFlags, listCommand } from "./commands/list.ts";
import { createIo } from "./io.ts";

/** Thrown to leave the rest to the full program: nothing was printed or changed before it. */
class NeedsProgram extends Error {}

async function main(): Promise<void> {
  const flags = parsePlainList(process.argv.slice(2));
  if (flags === null) return loadProgram();
  try {
    process.exitCode = await listCommand(flags, createIo(process.env), () =>
      Promise.reject(new NeedsProgram()),
    );
  } catch {
    // Whatever went wrong, nothing was printed yet: the full program tries again and says it in one sentence.
    await loadProgram();
  }
}

async function loadProgram(): Promise<void> {
  await import(pathToFileURL(`${__dirname}/main.js`).href);
}

/** `list` or `ls` with nothing but its own flags; null for whatever needs the real parser. */
function parsePlainList([command, ...rest]: readonly string[]): ListFlags | null {
  if (command !== "list" && command !== "ls") return null;
  const flags: { json?: boolean; ids?: boolean } = {};
  for (const word of rest) {
    if (word === "--json") flags.json = true;
    else if (word === "--ids") flags.ids = true;
    else return null;
  }
  return flags;
}

void main();
