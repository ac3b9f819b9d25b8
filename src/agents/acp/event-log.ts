/**
 * events.jsonl in the run folder: the messages of the agent, up to a limit and without secrets. Never throws: the log is
 * only for people.
 *
 * Text comes in chunks, and a secret may be in two of them. So a chunk is written when its line is complete.
 */
import { closeSync, constants, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createMaskStream } from "../../core/secrets/mask-stream.ts";
import { openOwn } from "../../system/files.ts";
import { currentMask } from "../../system/secrets.ts";
import { parseJson, quietly } from "../quietly.ts";

export interface EventLog {
  write(line: string): void;
  close(): void;
}

const EVENTS_BYTES = 16 * 1024 * 1024;
const BUFFER_CHARACTERS = 64 * 1024;
const FLUSH_MS = 200;

export function openEventLog(folder: string): EventLog {
  const path = join(folder, "events.jsonl");
  // a new file: the one of an earlier attempt may be anything
  const file = quietly(() => {
    rmSync(path, { force: true });
    return openOwn(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  });
  if (file === null) return { write() {}, close() {} };
  const lines = bufferedLines(file);
  const mask = currentMask();
  const texts = createMaskStream(mask);
  /** The last chunk of the text that is not complete yet. */
  let open: Chunk | null = null;
  const say = (chunk: Chunk, text: string) => {
    if (text !== "") lines.write(chunk.render(text));
  };
  const finishText = () => {
    if (open !== null) say(open, texts.end());
    open = null;
  };
  return {
    write(line) {
      const chunk = chunkIn(line);
      // a tool call ends a message; the reader of the log needs them in order
      if (chunk?.kind !== open?.kind && (chunk !== null || line.includes("toolCall"))) finishText();
      if (chunk === null) return lines.write(mask.text(line));
      open = chunk;
      say(chunk, texts.push(chunk.text));
    },
    close() {
      finishText();
      lines.close();
    },
  };
}

interface Chunk {
  /** Chunks of one kind belong together. */
  readonly kind: string;
  readonly text: string;
  /** The same message with another text. */
  render(text: string): string;
}

interface ChunkMessage {
  readonly params?: { readonly update?: ChunkUpdate | null } | null;
}

interface ChunkUpdate {
  readonly sessionUpdate?: unknown;
  readonly messageId?: unknown;
  readonly content?: { readonly text?: unknown } | null;
}

/** null: not a chunk of a text. */
function chunkIn(line: string): Chunk | null {
  if (!line.includes('_chunk"')) return null;
  const message = parseJson(line) as ChunkMessage | null;
  const update = message?.params?.update;
  const text = update?.content?.text;
  if (typeof text !== "string") return null;
  return {
    kind: `${update?.sessionUpdate} ${update?.messageId}`,
    text,
    render: (shown) => {
      const content = { ...update?.content, text: shown };
      return JSON.stringify({ ...message, params: { ...message?.params, update: { ...update, content } } });
    },
  };
}

function bufferedLines(file: number) {
  let buffer = "";
  let left = EVENTS_BYTES;
  let flushing: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(flushing);
    flushing = undefined;
    const text = buffer;
    buffer = "";
    if (text !== "") quietly(() => writeSync(file, text));
  };
  return {
    write(line: string): void {
      left -= line.length + 1;
      if (left < 0) return;
      buffer += `${line}\n`;
      if (buffer.length >= BUFFER_CHARACTERS) flush();
      // so that other processes can read along
      else flushing ??= setTimeout(flush, FLUSH_MS).unref();
    },
    close(): void {
      flush();
      left = 0;
      quietly(() => closeSync(file));
    },
  };
}
