/**
 * Reads from a run folder what a turn does, in any process, during and after the turn. Writes nothing: the agent's
 * output is already there (`formats.ts` knows its format).
 *
 * 1. Never throws because of the content: the agent wrote it, so it may be anything.
 * 2. A cursor is the number of the run folder (another agent of a chain may take over the turn) and an offset in its
 *    file. It is valid in every process.
 * 3. A format that needs earlier lines reads them again, without returning them again.
 */
import { closeSync, constants, lstatSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import type { ActivityPage, TurnActivity, TurnName } from "../../ports/activity.ts";
import type { AgentEvent } from "../../ports/agent.ts";
import { openOwn } from "../../system/files.ts";
import { currentMask } from "../../system/secrets.ts";
import { createEventMask } from "../masked.ts";
import { createLineSplitter } from "../process/lines.ts";
import { formatIn, runFolder } from "../process/run-folder.ts";
import { quietly } from "../quietly.ts";
import { formatOf, type LineReader } from "./formats.ts";

const BLOCK_BYTES = 256 * 1024;
const LONGEST_LINE_BYTES = 1024 * 1024;
const DEFAULT_LIMIT = 1_000;
const KEPT_READERS = 32;

interface Cursor {
  readonly run: number;
  readonly offset: number;
}

/** `others`: more folders where turns of the project may run, such as the worktrees of its stories. */
export function createRunFolderActivity(
  projectDir: string,
  others: () => Promise<readonly string[]> = async () => [],
): TurnActivity {
  /** How far each folder was read, and the reader's memory. */
  const readers = new Map<string, OpenReader>();
  return {
    // the agent writes where `read` looks
    append() {},
    async read(turn, { after, limit = DEFAULT_LIMIT } = {}) {
      const start = parseCursor(after);
      const found = findRun([projectDir], turn, start.run) ?? findRun(await others(), turn, start.run);
      if (found === null) return null;
      const { page, reader } = readPage(found, turn, start, limit, readers.get(found.folder));
      // most recently used last
      readers.delete(found.folder);
      readers.set(found.folder, reader);
      for (const oldest of [...readers.keys()].slice(0, -KEPT_READERS)) readers.delete(oldest);
      return page;
    },
  };
}

interface OpenReader {
  readonly read: LineReader;
  readonly offset: number;
}

interface RunFolder {
  readonly projectDir: string;
  readonly folder: string;
}

function readPage(
  { projectDir, folder }: RunFolder,
  turn: TurnName,
  start: Cursor,
  limit: number,
  known: OpenReader | undefined,
): { readonly page: ActivityPage; readonly reader: OpenReader } {
  // before the output is read: once the turn is over, the output is complete
  const isOver = isRunOver(folder);
  const format = formatOf(formatIn(folder));
  const reader =
    known?.offset === start.offset
      ? known
      : { read: format.open(projectDir), offset: format.isByLine ? start.offset : 0 };
  const events: AgentEvent[] = [];
  const masked = createEventMask(currentMask(), (event) => events.push(event));
  let { offset } = reader;
  let isRead = true;
  for (const line of linesOf(join(folder, format.file), offset, isOver)) {
    isRead = events.length < limit;
    if (!isRead) break;
    const told = quietly(() => reader.read(line.text)) ?? [];
    offset = line.end;
    // the agent may still write, and masks nothing
    if (offset > start.offset) for (const event of told) masked.add(event);
  }
  masked.flush();
  const hasSuccessor = isRead && folderOf(projectDir, turn, start.run + 1) !== null;
  const next = hasSuccessor ? { run: start.run + 1, offset: 0 } : { run: start.run, offset };
  return {
    page: { events, next: `${next.run}:${next.offset}`, hasGap: false },
    reader: { read: reader.read, offset },
  };
}

function isRunOver(folder: string): boolean {
  return quietly(() => readdirSync(folder))?.some((name) => /^exit\.\d+$/.test(name)) ?? true;
}

function findRun(dirs: readonly string[], turn: TurnName, run: number): RunFolder | null {
  for (const projectDir of dirs) {
    const folder = folderOf(projectDir, turn, run);
    if (folder !== null) return { projectDir, folder };
  }
  return null;
}

/** The first agent of a chain works in the turn's own folder, the next one in `<turn>.2`, and so on. */
function folderOf(projectDir: string, { loopId, turnId }: TurnName, run: number): string | null {
  return quietly(() => {
    const id = run === 1 ? turnId : `${turnId}.${run}`;
    const folder = runFolder(projectDir, { loopId, id });
    return lstatSync(folder).isDirectory() ? folder : null;
  });
}

/** Whole lines, each with the offset after it. When the turn is over, the rest counts as a line. */
function* linesOf(
  path: string,
  start: number,
  isOver: boolean,
): Generator<{ readonly text: string; readonly end: number }> {
  const splitter = createLineSplitter(LONGEST_LINE_BYTES, false);
  let end = start;
  for (const block of blocksOf(path, start)) {
    let from = 0;
    for (let to = block.indexOf(10); to !== -1; to = block.indexOf(10, from)) {
      const [text] = splitter.push(block.subarray(from, to + 1));
      end += to + 1 - from;
      from = to + 1;
      if (text !== undefined) yield { text, end };
    }
    if (from < block.length) {
      splitter.push(block.subarray(from));
      end += block.length - from;
    }
  }
  const rest = isOver ? splitter.rest() : null;
  if (rest !== null && rest !== "") yield { text: rest, end };
}

/** Never follows a link and never blocks on a pipe. */
function* blocksOf(path: string, start: number): Generator<Buffer> {
  let file: number | null = null;
  try {
    file = openOwn(path, constants.O_RDONLY);
    for (let place = start; ; ) {
      const block = Buffer.alloc(BLOCK_BYTES);
      const length = readSync(file, block, 0, block.length, place);
      if (length === 0) return;
      place += length;
      yield block.subarray(0, length);
    }
  } catch {
    // not there yet, or deleted or replaced meanwhile
  } finally {
    if (file !== null) closeSync(file);
  }
}

function parseCursor(text: string | undefined): Cursor {
  const [, run, offset] = /^(\d{1,3}):(\d{1,15})$/.exec(text ?? "1:0") ?? [];
  return { run: Math.max(1, Number(run ?? 1)), offset: Number(offset ?? 0) };
}
