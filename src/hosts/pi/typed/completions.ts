/** Completions after `/loop `: a command, then the id of a loop. Pure. */
import type { Loop } from "../../../core/loop.ts";
import { cleanLine } from "../../../core/text/clean.ts";
import type { PiCompletion } from "../api.ts";

type Kind = Loop["kind"];

interface Command {
  readonly description: string;
  /** The kinds of loop whose ids may follow. */
  readonly of?: readonly Kind[];
  readonly words?: readonly string[];
  /** No argument follows. */
  readonly isAlone?: true;
}

const ANY: readonly Kind[] = ["task", "goal", "backlog"];

export const COMMANDS: Readonly<Record<string, Command>> = {
  list: { description: "list all loops with their next and last fire", isAlone: true },
  show: { description: "show one task in full", of: ["task"] },
  delete: { description: "delete a task", of: ["task"] },
  clear: { description: "delete all tasks (asks first)", isAlone: true },
  pause: { description: "pause a loop", of: ANY },
  resume: { description: "resume a paused task", of: ["task"] },
  run: { description: "fire a task now", of: ["task"] },
  edit: { description: "change a task", of: ["task"] },
  history: { description: "show what fired, and why other fires did not", of: ANY },
  auto: { description: "start a loop that sets its own pace" },
  until: { description: "work until the checks pass" },
  score: { description: "rate how clear a goal is before you start it" },
  status: { description: "show the status of a goal", of: ["goal"] },
  continue: { description: "continue a goal or backlog", of: ["goal", "backlog"] },
  cancel: { description: "end a goal or backlog", of: ["goal", "backlog"] },
  approve: { description: "answer yes to a goal's question", of: ["goal"] },
  reject: { description: "answer no to a goal's question", of: ["goal"] },
  accept: { description: "accept a change to files that checks depend on", of: ["goal"] },
  report: { description: "show the receipt and the evidence", of: ["goal"] },
  rollback: { description: "restore the files", of: ["goal"] },
  backlog: { description: "work on stories", words: ["show", "run", "init", "plan", "triage", "import"] },
  doctor: { description: "check the installation", isAlone: true },
  help: { description: "show all commands", isAlone: true },
};

/** null: no completion. A complete word is not offered, because Enter would take the offer instead of the line. */
export function completeArguments(typed: string, loops: Iterable<Loop>): PiCompletion[] | null {
  const [, first = "", gap = "", rest = ""] = /^\s*(\S*)(\s*)([\s\S]*)$/.exec(typed) ?? [];
  const found = gap === "" ? commandsFor(first) : argumentsFor(first, rest, loops);
  const isWhole = found.some(({ value }) => value.trimEnd() === typed);
  return found.length === 0 || isWhole ? null : found;
}

function commandsFor(begin: string): PiCompletion[] {
  return Object.entries(COMMANDS)
    .filter(([name]) => name.startsWith(begin))
    .map(([name, { description, isAlone }]) => ({
      value: isAlone ? name : `${name} `,
      label: name,
      description,
    }));
}

function argumentsFor(name: string, begin: string, loops: Iterable<Loop>): PiCompletion[] {
  const command = COMMANDS[name];
  // a second argument is free text
  if (command === undefined || /\s/.test(begin)) return [];
  const words = (command.words ?? [])
    .filter((word) => word.startsWith(begin))
    .map((word) => ({ value: `${name} ${word}`, label: word }));
  const ids = [...loops]
    .filter(({ kind, status }) => status !== "ended" && command.of?.includes(kind))
    .filter(({ id }) => id.startsWith(begin.toLowerCase()))
    .map((loop) => ({ value: `${name} ${loop.id}`, label: loop.id, description: describe(loop) }));
  return [...words, ...ids];
}

function describe(loop: Loop): string {
  if (loop.kind === "backlog") return `backlog, ${loop.status}`;
  const text = loop.kind === "task" ? loop.prompt : loop.spec;
  return cleanLine(text).slice(0, 60);
}
