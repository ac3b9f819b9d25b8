/** A command that exits 0: `tests=npm test`. */
import { codeSpan } from "../text/quote.ts";
import type { CheckOf, Evidence } from "./check.ts";
import { readCommand } from "./comparison.ts";
import type { KindOfCheck } from "./kind.ts";

export function exitsZero(command: string): CheckOf<"command"> {
  return { kind: "command", command };
}

export const COMMAND: KindOfCheck<CheckOf<"command">> = {
  verification: "execution output",
  isWeaker: false,
  atMost: "SHIP",
  blocks: null,
  shape: {
    words: /^(?:execution(?: output)?|command|output|run|tests?)$/i,
    ofText: () => null,
    mismatch: null,
  },
  parse(text) {
    const read = readCommand(text);
    if (typeof read === "string") return read;
    return read.compared === null ? exitsZero(read.command) : null;
  },
  run: ({ command }) => ({
    kind: "command",
    command,
    wanted: null,
    read: ({ exitCode }) => ({ met: exitCode === 0, value: null, note: null }),
  }),
  describe: ({ command }) => `\`${command}\` exits 0`,
  demand: ({ command }) => `${codeSpan(command)} exits 0`,
  renderFinding: (_check, evidence) => renderExit(evidence),
};

export function renderExit({ exitCode }: Evidence): string {
  return exitCode === null ? "ended by a signal" : `exit ${exitCode}`;
}
