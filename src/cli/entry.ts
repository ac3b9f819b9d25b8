#!/usr/bin/env node
/**
 * The file behind the command `loop`, built as one small CommonJS bundle. It answers `loop list` by itself, since
 * status lines and people ask for it all the time; everything else is loaded from the full program beside it.
 */
import { pathToFileURL } from "node:url";
import { createIo } from "./io.ts";
import { type ListFlags, showList } from "./list-view.ts";
import { readPublished } from "./published.ts";

function main(): void {
  if (process.argv[2] === "statusline" && process.argv.length === 3) {
    // Not by import(): the loader of modules takes longer than the line itself.
    require(`${__dirname}/statusline.cjs`);
    return;
  }
  const flags = parsePlainList(process.argv.slice(2));
  const listing = flags === null ? null : tryPublished();
  if (flags === null || listing === null) void loadProgram();
  else process.exitCode = showList(listing, flags, createIo(process.env));
}

/** Whatever is wrong, nothing was printed yet: the full program looks again and says it in one sentence. */
function tryPublished(): ReturnType<typeof readPublished> {
  try {
    return readPublished(process.cwd());
  } catch {
    return null;
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

main();
