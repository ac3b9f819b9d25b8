/** Reads the HTTP status of an error from an exported session, for agents that do not send it over the protocol. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { withoutTurn } from "../../../system/turn-env.ts";
import { parseJson } from "../../quietly.ts";

export interface ExportCommand {
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

/** The status of the last message; null: unknown. */
export async function readExportedStatus(command: ExportCommand): Promise<number | null> {
  const tmpDir = command.ownTmpDir ? mkdtempSync(join(tmpdir(), "loop-agent-")) : null;
  try {
    return statusIn((await run(command, tmpDir)) ?? "");
  } finally {
    if (tmpDir !== null) rmSync(tmpDir, { recursive: true, force: true });
  }
}

function run({ argv, cwd, env, signal }: ExportCommand, tmpDir: string | null): Promise<string | null> {
  const [program, ...args] = argv;
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
