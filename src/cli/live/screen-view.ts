/**
 * The live list in a terminal: news scroll away above, the list stays below and is redrawn in place.
 * It is drawn when something happened, and once a second only while the text really changes.
 */
import { viewTask } from "../../core/task/view.ts";
import { liveTasks, localZone } from "../commands/list.ts";
import { type Io, paint } from "../io.ts";
import type { Project } from "../project.ts";
import { cut, oneLine, seenWidth } from "../render/table.ts";
import { renderTaskList } from "../render/task-list.ts";
import { renderClock } from "../render/times.ts";
import { farewell } from "./line-view.ts";
import { renderNews } from "./lines.ts";
import type { LiveView } from "./view.ts";

const TICK_MS = 1_000;

export function createScreenView(project: Project, io: Io): LiveView {
  let drawn = "";
  let status = "";
  let about = "";
  let asking = false;
  let waiting: string[] = [];
  let ticker: NodeJS.Timeout | null = null;
  let undivert = () => {};
  const zone = localZone();
  const onResize = () => draw(true);

  const width = () => process.stdout.columns ?? 80;
  const write = (text: string) => process.stdout.write(text);

  function block(): string {
    const tasks = liveTasks(project.store);
    const rows = Math.max(3, (process.stdout.rows ?? 24) - 6);
    const list =
      tasks.length === 0
        ? "No tasks yet; create one in another terminal: loop 5m <prompt>"
        : renderTaskList(tasks.map(viewTask), zone, Date.now(), io, width());
    const lines = list.split("\n");
    const hidden = lines.length - rows;
    const shown = hidden > 0 ? [...lines.slice(0, rows), paint(io, "dim", `… and ${hidden} more`)] : lines;
    return ["", ...shown, cut(paint(io, "dim", `${status}${about}  Ctrl-C stops`), width())].join("\n");
  }

  function draw(force = false): void {
    if (asking) return;
    const next = block();
    if (!force && next === drawn) return;
    erase();
    write(`${next}\n`);
    drawn = next;
  }

  /** A terminal that was made narrower has wrapped what stands there: lines count as what they take up now. */
  function erase(): void {
    if (drawn === "") return;
    const rows = drawn.split("\n").map((line) => Math.max(1, Math.ceil(seenWidth(line) / width())));
    write(`\u001b[${rows.reduce((sum, count) => sum + count, 0)}A\u001b[0J`);
    drawn = "";
  }

  function log(lines: readonly string[]): void {
    if (asking) {
      waiting.push(...lines);
      return;
    }
    if (lines.length > 0) {
      erase();
      for (const line of lines) write(`${line}\n`);
    }
    draw();
  }

  return {
    open: ({ agent, firing, endAt }) => {
      about = ` · agent: ${agent}${endAt === null ? "" : ` · until ${renderClock(endAt, Date.now())}`}`;
      if (!firing) log([paint(io, "yellow", "Firing is off: LOOP_DISABLE_SCHEDULER=1.")]);
      undivert = io.divert((text) => log(text.split("\n")));
      ticker = setInterval(draw, TICK_MS);
      process.stdout.on("resize", onResize);
      draw();
    },
    show: (news) => {
      const tasks = liveTasks(project.store).length;
      if (news.type === "role")
        status = news.role === "passive" ? `loop:${tasks} (passive)` : `loop:${tasks}`;
      else status = status.replace(/loop:\d+/, `loop:${tasks}`);
      log(renderNews(news, tasks, Date.now(), io).map((line) => cut(line, width())));
    },
    notify: (title, body) => log([`\u0007${paint(io, "yellow", `! ${title}`)}`, `  ${oneLine(body)}`]),
    problem: (error) => log([paint(io, "red", error instanceof Error ? error.message : String(error))]),
    stopping: () => log([paint(io, "dim", "Stopping …")]),
    async ask(question, detail) {
      if (asking) return null;
      erase();
      asking = true;
      const { confirm, isCancel } = await import("@clack/prompts");
      write(`  ${cut(oneLine(detail), width() - 2)}\n`);
      const answer = await confirm({ message: question, initialValue: false });
      asking = false;
      const missedMeanwhile = waiting;
      waiting = [];
      log(missedMeanwhile);
      if (isCancel(answer)) process.kill(process.pid, "SIGINT");
      return isCancel(answer) ? null : answer;
    },
    close: () => {
      if (ticker !== null) clearInterval(ticker);
      process.stdout.off("resize", onResize);
      undivert();
      erase();
      write(`${farewell(liveTasks(project.store).length)}\n`);
    },
  };
}
