/** Commands: exit 0 (`tests=npm test`), or a number that is compared (`coverage=npm run -s cov >= 80`). */
import { codeSpan } from "../text/quote.ts";
import type { CheckOf, Comparison, Evidence } from "./check.ts";
import { compare, lastNumber, readCommand } from "./comparison.ts";
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

function renderExit({ exitCode }: Evidence): string {
  return exitCode === null ? "ended by a signal" : `exit ${exitCode}`;
}

export function measures(command: string, comparison: Comparison, target: number): CheckOf<"measure"> {
  return { kind: "measure", command, comparison, target };
}

export const MEASURE: KindOfCheck<CheckOf<"measure">> = {
  verification: "measurement",
  isWeaker: false,
  atMost: "SHIP",
  blocks: null,
  shape: {
    words: /^(?:measurement|measured?|metric)$/i,
    ofText: () => null,
    mismatch:
      "is a measurement without a comparison; write it after the command, as in `npm run -s cov` >= 80",
  },
  parse(text) {
    const read = readCommand(text);
    if (typeof read === "string") return read;
    const { command, compared } = read;
    return compared === null ? null : measures(command, compared.comparison, compared.target);
  },
  run: ({ command, comparison, target }) => ({
    kind: "command",
    command,
    wanted: `${comparison} ${target}`,
    read({ exitCode, tail }) {
      const value = lastNumber(tail);
      return {
        met: exitCode === 0 && value !== null && compare(value, comparison, target),
        value,
        note: exitCode === 0 && value === null ? "it printed no number" : null,
      };
    },
  }),
  describe: ({ command, comparison, target }) => `\`${command}\` prints a number ${comparison} ${target}`,
  demand: ({ command, comparison, target }) =>
    `the last number that ${codeSpan(command)} prints is ${comparison} ${target}`,
  renderFinding({ comparison, target }, evidence) {
    if (evidence.value === null) return `printed no number, ${renderExit(evidence)}`;
    return evidence.met ? `${evidence.value}` : `${evidence.value}, wanted ${comparison} ${target}`;
  },
};
