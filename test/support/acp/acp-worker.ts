/** The agent of acp-worker.mjs as a command line for `--agent-acp`, and what it wrote down beside the project. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("acp-worker.mjs", import.meta.url));

/** See acp-worker.mjs for the words. */
export function acpWorker(...words: string[]): string {
  return ["exec", process.execPath, PROGRAM, ...words].map(quoted).join(" ");
}

/** One for each time that it asked for leave: `yes`, `no` or `cancelled`. */
export const answersTo = (cwd: string) => linesOf(cwd, "acp-answers");

/** The text of each turn, in order. */
export const promptsTo = (cwd: string): readonly string[] =>
  linesOf(cwd, "acp-prompts").map((line) => JSON.parse(line.slice(line.indexOf(" "))) as string);

/** The process that got the last prompt. */
export const lastProcessOf = (cwd: string) => Number.parseInt(linesOf(cwd, "acp-prompts").at(-1) ?? "", 10);

/** How often a `chatty` one talked while it waited. */
export const talkOf = (cwd: string) => linesOf(cwd, "acp-talk").length;

function linesOf(cwd: string, name: string): readonly string[] {
  const file = join(dirname(cwd), name);
  // only whole ones: it may be about to write
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

function quoted(word: string): string {
  return /^[\w./=-]+$/.test(word) ? word : `"${word}"`;
}
