/** `/loop …` in pi. The command line program runs it in a separate process, without the model. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { LoopError } from "../../../errors.ts";
import { findProgram } from "../../../system/find-program.ts";
import { carryOutTyped } from "../../conversation/typed.ts";
import { PI_COMMAND_NAME } from "../command-name.ts";
import type { PiSession } from "../session.ts";

interface CommandParts {
  /** The folder of this extension. */
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
      terminal.complain(error);
    }
  });
  session.open?.engine.nudge();
}

async function carryOutHere(typed: string, session: PiSession, { folder, env }: CommandParts): Promise<void> {
  const { terminal, root, id } = session;
  const command = findCommand(folder, env);
  const parts = { command, root, session: id, env, commandName: PI_COMMAND_NAME };
  const carried = await carryOutTyped(typed, parts);
  const open = session.openIfThere();
  await open?.store.catchUp();
  const why = carried.mayGoOn && open !== null ? await goOn(open) : null;
  const text = [carried.text, why].filter((part) => part !== null && part !== "").join("\n");
  terminal.say(text === "" ? "[LOOP] Done." : text, carried.isOk ? "info" : "warning");
}

/** A goal of this conversation needs the lease. Returns why it does not continue; null: it continues. */
async function goOn(open: NonNullable<PiSession["open"]>): Promise<string | null> {
  const loop = open.conversation.standing.bound();
  const isFree = loop?.status === "active" && (await open.engine.lead());
  return isFree ? null : open.conversation.whyNot();
}

/** The command to run; null: the person said no. */
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
      "You gave no prompt. The loop uses the prompt from .loop/loop.md, your own one, or the built-in one. It sets its own pace and ends when nothing is left to do.",
    ),
  );
  return isWanted ? "auto" : "help";
}

/** Node and the command line program of this extension. pi may run without Node. */
function findCommand(folder: string, env: NodeJS.ProcessEnv): readonly [string, string] {
  const files = [join(folder, "loop", "loop.cjs"), join(folder, "..", "loop.cjs")];
  const file = files.find((path) => existsSync(path));
  const isNode = process.versions.bun === undefined;
  const node = isNode ? process.execPath : findProgram("node", env);
  if (file === undefined || node === null)
    throw new LoopError(
      "surroundings",
      file === undefined
        ? "The command line program of this extension is missing."
        : "Node is not on the PATH.",
      file === undefined ? "Install the extension again: loop install pi" : "Install Node first.",
    );
  return [node, file];
}
