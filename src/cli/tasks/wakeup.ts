/** `loop wakeup`: an agent of `loop auto` sets its next turn (A17). Reads LOOP_ID and LOOP_FIRE_ID. */
import type { FireId, Wakeup } from "../../core/loop.ts";
import { parseLeadingInterval, renderDuration } from "../../core/task/interval.ts";
import { MAX_WAKEUP_MS, MIN_WAKEUP_MS } from "../../core/task/settle.ts";
import { findTask, requestEvent } from "../../engine/tasks/tasks.ts";
import { usageError } from "../../errors.ts";
import { currentMask } from "../../system/secrets.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { openProject, type ProjectFlags } from "../project.ts";

export interface WakeupFlags extends ProjectFlags {
  readonly stop?: boolean;
}

export async function wakeupCommand(words: readonly string[], flags: WakeupFlags, io: Io): Promise<number> {
  const { LOOP_ID: id, LOOP_FIRE_ID: fireId, LOOP_PROJECT: home } = process.env;
  if (!id || !fireId)
    throw usageError(
      "`loop wakeup` works only inside a turn of `loop auto`: LOOP_ID and LOOP_FIRE_ID are not set.",
    );
  const wakeup = parseWords(words, flags);
  const { store } = openProject({ ...(home === undefined ? {} : { project: home }), ...flags }, io);
  const task = findTask(store, id);
  if (task.fire?.id !== fireId)
    throw usageError(`The turn ${fireId} has ended; a wake-up can be set only while the turn runs.`);
  const event = { type: "fire.wakeup", fireId: fireId as FireId, wakeup } as const;
  const changed = await requestEvent(store, task, event, Date.now());
  const asked = changed.fire?.wakeup ?? wakeup;
  const text =
    asked.kind === "stop"
      ? "The loop ends after this turn."
      : `The next turn starts ${renderDuration(asked.delayMs)} after this turn ends.`;
  answer(flags, io, asked, text);
  if (asked.kind === "sleep" && wakeup.kind === "sleep" && asked.delayMs !== wakeup.delayMs)
    io.say(
      `The delay must be ${renderDuration(MIN_WAKEUP_MS)} to ${renderDuration(MAX_WAKEUP_MS)}; it was set to ${renderDuration(asked.delayMs)}.`,
    );
  return EXIT.ok;
}

function parseWords(words: readonly string[], flags: WakeupFlags): Wakeup {
  // an agent types it
  const said = currentMask().text(words.join(" ").trim());
  if (flags.stop) return { kind: "stop", reason: said || "no reason given" };
  if (said === "")
    throw usageError("The delay is missing.", 'Write: loop wakeup 5m "why", or: loop wakeup --stop "why"');
  const found = parseLeadingInterval(said);
  const [first = "", ...rest] = said.split(/\s+/);
  const seconds = /^\d+$/.test(first) ? Number(first) : null;
  if (found === null && seconds === null)
    throw usageError(`"${first}" is not a length of time; write seconds (300) or a time like 5m.`);
  const delayMs = found?.interval.ms ?? (seconds ?? 0) * 1000;
  return { kind: "sleep", delayMs, reason: (found?.rest ?? rest.join(" ")) || "no reason given" };
}
