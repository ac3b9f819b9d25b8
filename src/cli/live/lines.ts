/** Engine news as lines for people; empty when there is nothing to say. */
import type { Task } from "../../core/loop.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { type Io, paint } from "../io.ts";
import { oneLine } from "../render/table.ts";
import { outcomeRow } from "../render/tasks.ts";
import { renderClock } from "../render/times.ts";

export function renderNews(news: EngineNews, count: number, now: number, io: Io): string[] {
  const time = paint(io, "dim", renderClock(now, now));
  switch (news.type) {
    case "role":
      return [`${time}  ${roleText(news, count)}`];
    case "fire.intended":
      return [`${time}  ${paint(io, "cyan", "▶ fire")}  ${news.task.id}  ${fireText(news.task)}`];
    case "outcomes":
      return news.outcomes.map(
        (line) =>
          `${time}  ${outcomeRow(line, now, io)
            .filter((cell) => cell !== "")
            .join("  ")}`,
      );
    case "answer":
      return oneLine(news.text) === "" ? [] : [`${time}    ${paint(io, "dim", lastLine(news.text))}`];
    case "ended":
      return [`${time}  ${news.task.id} ended: ${news.task.statusReason ?? "deleted"}`];
    case "problem":
      return [`${time}  ${paint(io, "red", news.message)}`];
    case "tasks":
      return [];
  }
}

function roleText(news: Extract<EngineNews, { type: "role" }>, count: number): string {
  switch (news.role) {
    case "owner":
      return `loop:${count} this runner fires the tasks of this project`;
    case "passive":
      return `loop:${count} (passive) ${news.lease?.owner ?? "another process"} fires; this one takes over when it ends`;
    case "off":
      return news.lease === null ? "not firing" : `not firing; ${news.lease.owner} does`;
  }
}

function fireText(task: Task): string {
  const kind = task.fire?.kind ?? "scheduled";
  return `${kind === "scheduled" ? "" : `(${kind}) `}${oneLine(task.prompt)}`;
}

function lastLine(text: string): string {
  return oneLine(text.trim().split("\n").at(-1) ?? "");
}
