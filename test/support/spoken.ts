/** What a command said, for tests that call it without a process. */
import type { Io } from "../../src/cli/io.ts";

export interface Spoken extends Io {
  readonly stdout: string[];
  readonly stderr: string[];
}

export function listen(): Spoken {
  const stdout: string[] = [];
  const stderr: string[] = [];
  return {
    stdout,
    stderr,
    out: (text) => void stdout.push(text),
    say: (text) => void stderr.push(text),
    json: (value) => void stdout.push(JSON.stringify(value)),
    divert: () => () => {},
    interactive: false,
    colour: false,
  };
}
