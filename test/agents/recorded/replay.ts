/** What real agents printed (paths are made up), and a program that prints it again. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type RecordedAgent = "codex" | "gemini" | "opencode" | "pi";

export function recorded(agent: RecordedAgent, name: string): string {
  return readFileSync(new URL(`${agent}/${name}.jsonl`, import.meta.url), "utf8");
}

export interface Call {
  readonly argv: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Replayer {
  readonly executable: string;
  /** How it was called last. */
  called(): Call;
}

/** Writes down how it is called, prints, and ends with this code. */
export function replayer(dir: string, stream: string, exitCode = 0, stderr = ""): Replayer {
  const executable = join(dir, "agent.mjs");
  const record = join(dir, "called.json");
  const program = `#!${process.execPath}
import { readFileSync, writeFileSync } from "node:fs";
const call = { argv: process.argv.slice(2), stdin: readFileSync(0, "utf8"), env: process.env };
writeFileSync(${JSON.stringify(record)}, JSON.stringify(call));
process.stdout.write(${JSON.stringify(stream)});
process.stderr.write(${JSON.stringify(stderr)});
process.exitCode = ${exitCode};
`;
  writeFileSync(executable, program);
  chmodSync(executable, 0o755);
  return { executable, called: () => JSON.parse(readFileSync(record, "utf8")) as Call };
}
