#!/usr/bin/env node
/**
 * The file behind the command `loop`, built as one small CommonJS bundle. It answers `loop list` itself, because
 * status lines and people call it all the time. The full program beside it answers everything else.
 */
import fs from "node:fs";
import { pathToFileURL } from "node:url";
import { createIo } from "./io.ts";
import { type ListFlags, showList } from "./list-view.ts";
import { readPublished } from "./published.ts";

function main(): void {
  if (process.argv[2] === "statusline" && process.argv.length === 3) {
    // Not import(): loading the module loader takes longer than the line itself.
    require(`${__dirname}/statusline.cjs`);
    return;
  }
  const flags = parsePlainList(process.argv.slice(2));
  const listing = flags === null ? null : tryPublished();
  if (flags === null || listing === null) {
    loadOneByOne();
    void import(pathToFileURL(`${__dirname}/main.js`).href);
  } else process.exitCode = showList(listing, flags, createIo(process.env));
}

/** Node's loader reads with this function, and would open all files at once: too many with `ulimit -n 64`. */
function loadOneByOne(): void {
  const readNow = async (...args: Parameters<typeof fs.readFileSync>) => fs.readFileSync(...args);
  fs.promises.readFile = readNow as typeof fs.promises.readFile;
}

/** On any error nothing was printed yet: the full program tries again and reports the error. */
function tryPublished(): ReturnType<typeof readPublished> {
  try {
    return readPublished(process.cwd());
  } catch {
    return null;
  }
}

/** `list` or `ls` with only its own flags; null when the real parser is needed. */
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
