/** Renders one task in full, and the history. */
import type { Outcome } from "../../core/event.ts";
import type { Task } from "../../core/loop.ts";
import { renderDuration } from "../../core/task/interval.ts";
import { slotAfter } from "../../core/task/slots.ts";
import { cleanText } from "../../core/text/clean.ts";
import { renderCadence } from "../../core/text/human.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { type Io, paint } from "../io.ts";
import { type Cell, renderTable } from "./table.ts";
import { renderNext } from "./task-list.ts";
import { renderClock, renderWhen } from "./times.ts";

export function renderTask(task: Task, recent: readonly Outcome[], now: number, io: Io): string {
  const { cadence } = task;
  const once = cadence.kind === "once";
  const expiry = task.expiresAt === null ? "never" : renderWhen(task.expiresAt, now);
  const alarm = `after ${task.alertAfter} failed or missed fires in a row (now ${task.streak})`;
  const fields: [string, Cell | null][] = [
    ["id", [task.id, "", statusText(task)]],
    ["schedule", renderCadence(cadence)],
    ["cron", cadence.kind === "cron" ? `${cadence.expr} (${cadence.tz})` : once ? cadence.cron : null],
    ["next", renderNext(viewTask(task), now)],
    ["then", laterSlots(task, now)],
    ["last", task.lastFiredAt === null ? "never" : renderWhen(task.lastFiredAt, now)],
    ["jitter", jitterText(task.jitterMs)],
    ["created", renderWhen(task.createdAt, now)],
    ["expires", once ? null : expiry],
    ["missed", `${task.missed}${task.graceMs === null ? "" : `, grace ${renderDuration(task.graceMs)}`}`],
    ["expect", task.expect],
    ["alert", task.alertAfter === null ? null : alarm],
    ["kept", task.session === null ? "on disk (durable)" : "for this runner's session only"],
    ["from", task.importedFrom],
  ];
  const rows = fields.flatMap(([text, value]): Cell[][] =>
    value === null ? [] : [[{ style: "dim", text }, value]],
  );
  const lines = [renderTable(rows, Number.POSITIVE_INFINITY, io), "", cleanText(task.prompt)];
  if (recent.length > 0) {
    lines.push("", paint(io, "dim", "latest"), renderHistory(recent, now, io, Number.POSITIVE_INFINITY));
  }
  return lines.join("\n");
}

function statusText(task: Task): string {
  if (task.fire !== null) return "running now";
  return task.statusReason === null ? task.status : `${task.status}: ${task.statusReason}`;
}

/** The two fires after the next one. */
function laterSlots(task: Task, now: number): string | null {
  if (task.status !== "active") return null;
  const next = slotAfter(task.cadence, Math.max(now, task.cursorAt));
  const second = next === null ? null : slotAfter(task.cadence, next);
  const third = second === null ? null : slotAfter(task.cadence, second);
  const isShown = (slot: number | null) =>
    slot !== null && (task.expiresAt === null || slot <= task.expiresAt);
  const shown = [second, third].filter(isShown).map((slot) => renderClock((slot ?? 0) + task.jitterMs, now));
  return shown.join(", ") || null;
}

function jitterText(jitterMs: number): string {
  if (jitterMs === 0) return "none";
  return jitterMs > 0 ? `${renderDuration(jitterMs)} late` : `${renderDuration(-jitterMs)} early`;
}

const MARKS = { ok: "✓", failed: "✗", interrupted: "■", missed: "○", skipped: "–" } as const;
const STYLES = {
  ok: "green",
  failed: "red",
  interrupted: "yellow",
  missed: "yellow",
  skipped: "dim",
} as const;

export function renderHistory(outcomes: readonly Outcome[], now: number, io: Io, width: number): string {
  return renderTable(
    outcomes.map((line) => outcomeRow(line, now)),
    width,
    io,
  );
}

export function outcomeRow(line: Outcome, now: number): Cell[] {
  const { startedAt, finishedAt } = line;
  const took = startedAt !== null && finishedAt !== null ? renderDuration(finishedAt - startedAt) : "";
  const mark = { style: STYLES[line.outcome], text: `${MARKS[line.outcome]} ${line.outcome}` };
  const last = renderClock(line.untilSlot ?? line.slot, now);
  const what = [
    ...(line.kind === "scheduled" ? [] : [line.kind]),
    ...(line.takenBy === undefined ? [] : [`by ${line.takenBy}`]),
    ...(line.reason === null ? [] : [line.reason]),
  ];
  return [
    line.count === undefined ? mark : [mark, `×${line.count} until ${last}`],
    renderClock(line.slot, now),
    line.taskId,
    took,
    what.join(": "),
  ];
}
