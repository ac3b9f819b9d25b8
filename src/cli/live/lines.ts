/** Renders engine news as lines for people. */
import type { Task } from "../../core/loop.ts";
import { changesOf } from "../../core/views/goal-changes.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { reasonOf } from "../../errors.ts";
import type { Io } from "../io.ts";
import { type Cell, oneLine, renderCell } from "../render/table.ts";
import { outcomeRow } from "../render/tasks.ts";
import { renderClock } from "../render/times.ts";
import { renderGoalChange } from "./goal-lines.ts";

export function renderNews(news: EngineNews, count: number, now: number, io: Io): string[] {
  if (news.type === "goal")
    return changesOf(news.before, news.goal).flatMap((change) =>
      renderGoalChange(change, news.goal, now, io),
    );
  const time: Cell = { style: "dim", text: renderClock(now, now) };
  return cellsOf(news, count, now).map((cells) => renderLine([time, ...cells], io));
}

export function renderNotice(title: string, body: string, io: Io): string {
  return `${renderCell({ style: "yellow", text: `! ${title}` }, io)}: ${oneLine(body)}`;
}

export function renderProblem(error: unknown, io: Io): string {
  const text = reasonOf(error);
  return renderCell({ style: "red", text }, io);
}

function renderLine(cells: readonly Cell[], io: Io): string {
  return cells
    .filter((cell) => cell !== "")
    .map((cell) => renderCell(cell, io))
    .join("  ");
}

function cellsOf(news: EngineNews, count: number, now: number): Cell[][] {
  switch (news.type) {
    case "role":
      return [[roleText(news, count)]];
    case "fire.intended":
      return [[{ style: "cyan", text: "▶ fire" }, news.task.id, fireText(news.task)]];
    case "outcomes":
      return news.outcomes.map((line) => outcomeRow(line, now));
    case "answer":
      // the empty cell indents the answer below its fire
      return oneLine(news.text) === "" || news.loop.kind !== "task"
        ? []
        : [[[""], { style: "dim", text: lastLine(news.text) }]];
    case "ended":
      return [[`${news.task.id} ended: ${news.task.statusReason ?? "deleted"}`]];
    case "problem":
      return [[{ style: "red", text: news.message }]];
    case "tasks":
    case "goal":
    case "backlog":
      return [];
    case "agent": {
      // a turn's events are in its own log; only a fallback to another agent is news
      const { event, loopId } = news;
      if (event.type !== "taken") return [];
      const text = `${event.instead}: ${event.reason}; ${event.by} takes the turn`;
      return [[{ style: "yellow", text: "⇄ agent" }, loopId, text]];
    }
  }
}

function roleText(news: Extract<EngineNews, { type: "role" }>, count: number): string {
  switch (news.role) {
    case "owner":
      return `loop:${count} this runner fires the tasks of this project`;
    case "passive":
      return `loop:${count} (passive) ${news.lease?.owner ?? "another process"} fires the tasks; this runner takes over when it ends`;
    case "off":
      return news.lease === null
        ? "this runner does not fire tasks"
        : `this runner does not fire tasks; ${news.lease.owner} does`;
  }
}

function fireText(task: Task): string {
  const kind = task.fire?.kind ?? "scheduled";
  return `${kind === "scheduled" ? "" : `(${kind}) `}${task.prompt}`;
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
