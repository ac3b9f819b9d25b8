/** What agents record about an error outside the protocol: in a file with events, or in an exported session. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod";
import { readEndOf } from "../../../system/files.ts";
import { withInterpreter } from "../../../system/find-program.ts";
import { withoutTurn } from "../../../system/turn-env.ts";
import { parseJson, quietly } from "../../quietly.ts";
import { lenient, parseEvents, Text } from "../../stream/stream-events.ts";
import type { Cause } from "./failure.ts";

/** The agent writes the event at about the time the turn ends. */
const TRIES = 10;
const PAUSE_MS = 50;
const TAIL_BYTES = 256 * 1024;

const Kept = z.object({
  type: z.literal("session.error"),
  data: z.object({
    message: z.string(),
    errorType: Text,
    statusCode: lenient(z.number().int()),
  }),
});

/** Finds the kind of the last error with these words; null: not found. Never rejects. */
export async function readKeptError(path: string, words: string): Promise<Cause | null> {
  for (let tries = 1; ; tries++) {
    const found = findError(quietly(() => readEndOf(path, TAIL_BYTES)) ?? "", words);
    if (found !== null || tries === TRIES) return found;
    await pause(PAUSE_MS);
  }
}

function findError(text: string, words: string): Cause | null {
  // most lines are other events
  const lines = text.split("\n").filter((line) => line.includes("session.error"));
  const errors = parseEvents(Kept, lines.join("\n")).map(({ data }) => data);
  const error = errors.findLast(({ message }) => message.trim() === words.trim());
  return error === undefined ? null : { kind: error.errorType ?? null, status: error.statusCode ?? null };
}

interface ExportCommand {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly ownTmpDir: boolean;
  readonly signal: AbortSignal;
}

const EXPORT_MS = 15_000;
const EXPORT_BYTES = 64 * 1024 * 1024;

const Exported = z.object({ messages: z.array(z.object({ info: z.unknown().optional() })) });
const Info = z.object({ error: z.object({ data: z.object({ statusCode: z.number().int() }) }) });

/** The HTTP status of the last message, for agents that do not send it over the protocol; null: unknown. */
export async function readExportedStatus(command: ExportCommand): Promise<number | null> {
  const tmpDir = command.ownTmpDir ? mkdtempSync(join(tmpdir(), "loop-agent-")) : null;
  try {
    return statusIn((await run(command, tmpDir)) ?? "");
  } finally {
    if (tmpDir !== null) rmSync(tmpDir, { recursive: true, force: true });
  }
}

function run({ argv, cwd, env, signal }: ExportCommand, tmpDir: string | null): Promise<string | null> {
  const [program, ...args] = withInterpreter(argv, env, cwd);
  const all = { ...withoutTurn(env), ...(tmpDir === null ? {} : { TMPDIR: tmpDir }) };
  const options = { cwd, env: all, signal, timeout: EXPORT_MS, maxBuffer: EXPORT_BYTES };
  return new Promise((done) => {
    const child = execFile(program, args, options, (error, stdout) => done(error === null ? stdout : null));
    child.stdin?.end();
  });
}

function statusIn(json: string): number | null {
  const last = Exported.safeParse(parseJson(json)).data?.messages.at(-1)?.info;
  return Info.safeParse(last).data?.error.data.statusCode ?? null;
}
