/** Records a tool call in the ledger (D7). A failed test run also sets the directive for the goal's next turn (D10). */
import { dirname, join } from "node:path";
import { failureCategory, isSystemic } from "../../core/backprop/category.ts";
import { BACKPROP_LOG, renderBackpropDirective, renderBackpropEntry } from "../../core/backprop/directive.ts";
import { callsForBackprop, recogniseTestRun } from "../../core/backprop/test-run.ts";
import { maskAll } from "../../core/secrets/mask.ts";
import { appendLedger } from "../../store/ledger/ledger.ts";
import { appendTo, orNull, readSmall } from "../../system/files.ts";
import { makeInside } from "../../system/inside.ts";
import { currentMask } from "../../system/secrets.ts";
import type { OpenSeat } from "./open-seat.ts";

/** A completed tool call. */
export interface UsedTool {
  readonly tool: string;
  /** The client's id of the call. */
  readonly id: string;
  readonly isOk: boolean;
  /** null: the client does not report it. */
  readonly durationMs: number | null;
  /** Called by an agent that the conversation's agent started. */
  readonly isOfSubAgent: boolean;
  /** The shell command; null: another kind of tool. */
  readonly ran: RanCommand | null;
}

export interface RanCommand {
  readonly command: string;
  /** null: not reported. */
  readonly exitCode: number | null;
  readonly output: string;
}

export function noteTool({ seat, dir, session, now }: OpenSeat, used: UsedTool): void {
  const loop = seat.running?.loopId ?? null;
  recordTool(dir, session, used, loop, now());
  if (loop === null || used.isOfSubAgent) return;
  const directive = backpropOf(dir, used.ran, now());
  if (directive !== "as before") seat.update({ directive });
}

/** The same call counts once. */
export function recordTool(
  dir: string,
  session: string,
  { tool, id, isOk, durationMs }: UsedTool,
  loop: string | null,
  now: number,
): void {
  if (tool === "" || id === "") return;
  appendLedger(dir, [
    {
      kind: "tool",
      id,
      at: now,
      session,
      tool,
      ok: isOk,
      ...(loop === null ? {} : { loop }),
      ...(durationMs === null ? {} : { ms: durationMs }),
    },
  ]);
}

/** The directive for the next turn; null: the tests pass again; `as before`: this was not a test run. */
export function backpropOf(dir: string, ran: RanCommand | null, now: number): string | null | "as before" {
  if (ran === null) return "as before";
  const mask = currentMask();
  const run = recogniseTestRun(ran);
  if (run?.outcome === "passed") return null;
  if (!callsForBackprop(run)) return "as before";
  const category = mask.text(failureCategory(run));
  const seen = [...categoriesSoFar(dir), category];
  const backprop = {
    ...maskAll(mask, { run, command: ran.command }),
    category,
    times: seen.filter((each) => each === category).length,
    systemic: isSystemic(seen, category),
  };
  log(dir, renderBackpropEntry({ ...backprop, date: new Date(now).toISOString() }), category);
  return renderBackpropDirective(backprop);
}

const MARK = /^<!-- category: (.*) -->$/gm;

function categoriesSoFar(dir: string): readonly string[] {
  const text = readSmall(logPath(dir)) ?? "";
  return [...text.matchAll(MARK)].map(([, category = ""]) => category);
}

function log(dir: string, entry: string, category: string): void {
  const path = logPath(dir);
  const mark = `<!-- category: ${category.replaceAll(/[\r\n]|--/g, " ")} -->`;
  // a log that cannot be written must not lose the directive
  orNull(() => {
    makeInside(dirname(dir), dirname(path));
    appendTo(path, `${entry.trimEnd()}\n${mark}\n\n`);
  });
}

function logPath(dir: string): string {
  return join(dirname(dir), BACKPROP_LOG);
}
