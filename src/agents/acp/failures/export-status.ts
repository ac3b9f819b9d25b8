/** The HTTP status behind an error, for agents that keep it with the session and do not tell it over the protocol. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { withoutTurn } from "../../../system/turn-env.ts";

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

/** Of the last message; null: it cannot be had. */
export async function readExportedStatus(command: ExportCommand): Promise<number | null> {
  const tmpDir = command.ownTmpDir ? mkdtempSync(join(tmpdir(), "loop-agent-")) : null;
  try {
    return statusIn((await run(command, tmpDir)) ?? "null");
  } finally {
    if (tmpDir !== null) rmSync(tmpDir, { recursive: true, force: true });
  }
}

/** null: it failed. */
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
  try {
    const last = Exported.parse(JSON.parse(json)).messages.at(-1)?.info;
    const parsed = Info.safeParse(last);
    return parsed.success ? parsed.data.error.data.statusCode : null;
  } catch {
    return null;
  }
}
