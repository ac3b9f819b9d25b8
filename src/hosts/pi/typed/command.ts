/**
 * `/loop …` in pi. It is carried out by the command line program itself, in a process of its own: pi has just what a
 * terminal has, and nothing is understood twice. The model is not asked.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findExecutable } from "../../../agents/find.ts";
import { LoopError } from "../../../errors.ts";
import { type Carried, carryOutTyped } from "../../conversation/typed.ts";
import { PI_COMMAND_NAME } from "../command-name.ts";
import type { PiSession } from "../session.ts";

export interface CommandParts {
  /** Where this extension lies. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

export async function runTyped(typed: string, session: PiSession, parts: CommandParts): Promise<void> {
  const { terminal } = session;
  await terminal.hold(async () => {
    try {
      const words = await decide(typed.trim(), session);
      if (words === null) return terminal.say("[LOOP] Nothing was changed.");
      await carryOutHere(words, session, parts);
    } catch (error) {
      terminal.say(`[LOOP] ${error instanceof Error ? error.message : String(error)}`, "error");
    }
  });
  session.open?.engine.nudge();
}

async function carryOutHere(typed: string, session: PiSession, { folder, env }: CommandParts): Promise<void> {
  const { terminal, root, id } = session;
  const command = findCommand(folder, env);
  const carried = await carryOutTyped(typed, {
    command,
    root,
    session: id,
    env,
    commandName: PI_COMMAND_NAME,
  });
  const open = session.openIfThere();
  await open?.store.catchUp();
  const why = carried.mayGoOn && open !== null ? await goOn(open) : null;
  const text = [carried.text, why].filter((part) => part !== null && part !== "").join("\n");
  terminal.say(text === "" ? "[LOOP] Done." : text, typeOf(carried));
}

/** A goal of this conversation needs the lease; why it does not go on, when it does not. */
async function goOn(open: NonNullable<PiSession["open"]>): Promise<string | null> {
  const loop = open.conversation.bound();
  const isFree = loop?.status === "active" && (await open.engine.lead());
  return isFree ? null : open.conversation.whyNot();
}

function typeOf({ isOk }: Carried): "info" | "warning" {
  return isOk ? "info" : "warning";
}

/** What is carried out; null: the person said no. */
async function decide(typed: string, session: PiSession): Promise<string | null> {
  const { terminal } = session;
  const live = [...(session.open?.store.loops() ?? [])].filter(({ status }) => status !== "ended");
  if (/^clear$/i.test(typed) && terminal.hasPerson) {
    const tasks = live.filter(({ kind }) => kind === "task").length;
    const isSure = await terminal.ask((ui) =>
      ui.confirm("Delete all tasks?", `${tasks === 1 ? "1 task" : `${tasks} tasks`} of ${session.root}`),
    );
    return isSure ? "clear --yes" : null;
  }
  if (typed !== "") return typed;
  if (live.length > 0) return "list";
  if (!terminal.hasPerson) return "help";
  const isWanted = await terminal.ask((ui) =>
    ui.confirm(
      "Start the maintenance loop?",
      "No prompt was given. That of .loop/loop.md, your own, or the built-in one runs at its own pace until it has nothing left to do.",
    ),
  );
  return isWanted ? "auto" : "help";
}

/** The program that came with this extension, and what runs it: pi may be a program without a Node of its own. */
export function findCommand(folder: string, env: NodeJS.ProcessEnv): readonly [string, string] {
  const files = [join(folder, "loop", "loop.cjs"), join(folder, "..", "loop.cjs")];
  const file = files.find((path) => existsSync(path));
  const isNode = process.versions.bun === undefined;
  const node = isNode ? process.execPath : findExecutable("node", env);
  if (file === undefined || node === null)
    throw new LoopError(
      "surroundings",
      file === undefined ? "The command of this extension is not where it was." : "Node is not on the PATH.",
      "Install it again: loop install pi",
    );
  return [node, file];
}
