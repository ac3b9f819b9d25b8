/** What is offered behind `/loop `: a command, and then the id of what it can be done to. Pure. */
import type { Loop } from "../../../core/loop.ts";
import { cleanLine } from "../../../core/text/clean.ts";
import type { PiCompletion } from "../api.ts";

type Kind = Loop["kind"];

interface Command {
  readonly description: string;
  /** Whose ids may follow; left out: none do. */
  readonly of?: readonly Kind[];
  readonly words?: readonly string[];
  /** Nothing follows. */
  readonly isAlone?: true;
}

const ANY: readonly Kind[] = ["task", "goal", "backlog"];

export const COMMANDS: Readonly<Record<string, Command>> = {
  list: { description: "all tasks, with their next and last fire", isAlone: true },
  show: { description: "one task in full", of: ["task"] },
  delete: { description: "end a task for good", of: ["task"] },
  clear: { description: "delete all tasks (asks first)", isAlone: true },
  pause: { description: "let a loop rest", of: ANY },
  resume: { description: "let a task go on", of: ["task"] },
  run: { description: "fire a task now", of: ["task"] },
  edit: { description: "change a task", of: ["task"] },
  history: { description: "what fired, and what did not and why", of: ANY },
  auto: { description: "a loop that sets its own pace" },
  until: { description: "work until the checks are green" },
  score: { description: "how clear a goal is, before it is started" },
  status: { description: "how a goal stands", of: ["goal"] },
  continue: { description: "go on with a goal", of: ["goal", "backlog"] },
  cancel: { description: "end a goal", of: ["goal", "backlog"] },
  approve: { description: "yes to what a goal asks", of: ["goal"] },
  reject: { description: "no to what a goal asks", of: ["goal"] },
  accept: { description: "take a change to what checks consist of", of: ["goal"] },
  report: { description: "receipt and evidence", of: ["goal"] },
  rollback: { description: "put the files back", of: ["goal"] },
  backlog: { description: "stories", words: ["show", "run", "init", "plan", "triage", "import"] },
  doctor: { description: "is everything in place?", isAlone: true },
  help: { description: "how all this is typed", isAlone: true },
};

/**
 * null: nothing is missing that we know of. What is typed in full is not offered: Enter would take the offer, and not
 * the line.
 */
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
  // a second argument is the person's own words
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
