/**
 * The live list in a terminal: news scroll away above, the list stays below and is redrawn in place.
 *
 * 1. It is built anew when something happened, and by the clock only when a time in it reads otherwise.
 * 2. What is erased, the news and the list are one write: a terminal that takes no more gets all of it or nothing.
 * 3. While a question is open nothing is drawn; news wait, the newest of them.
 */
import { viewTask } from "../../core/task/view.ts";
import type { Role } from "../../engine/engine.ts";
import { type Io, paint } from "../io.ts";
import type { Project } from "../project.ts";
import { cut, oneLine, printable, seenWidth } from "../render/table.ts";
import { listChangesAt, renderTaskList } from "../render/task-list.ts";
import { renderClock } from "../render/times.ts";
import { liveTasks, localZone } from "../tasks/list.ts";
import { farewell } from "./line-view.ts";
import { renderNews, renderNotice, renderProblem } from "./lines.ts";
import { leftOutText } from "./outlet.ts";
import { askPermission, askYesNo } from "./question.ts";
import { openScreen, type Screen } from "./screen.ts";
import type { LiveView } from "./view.ts";

const TICK_MS = 1_000;
const MAX_WAITING = 200;

export function createScreenView(
  project: Project,
  io: Io,
  open: (onBack: (lines: number) => void) => Screen = openScreen,
): LiveView {
  const screen = open((lines) => log([paint(io, "dim", leftOutText(lines))]));
  const zone = localZone();
  let drawn = "";
  let builtAt = 0;
  let changesAt = 0;
  let role: Role | null = null;
  let about = "";
  let question: AbortController | null = null;
  let waiting: string[] = [];
  let leftOut = 0;
  /** open, then stopping (no more questions), then closed (nothing more at all). */
  let phase: "open" | "stopping" | "closed" = "open";
  let undo: (() => void)[] = [];

  function build(): string {
    builtAt = Date.now();
    const tasks = liveTasks(project.store).map(viewTask);
    changesAt = listChangesAt(tasks, builtAt);
    const rows = Math.max(3, screen.rows - 6);
    const list =
      tasks.length === 0
        ? "No tasks yet; create one in another terminal: loop 5m <prompt>"
        : renderTaskList(tasks, zone, builtAt, io, screen.columns);
    const lines = list.split("\n");
    const hidden = lines.length - rows;
    const shown = hidden > 0 ? [...lines.slice(0, rows), paint(io, "dim", `… and ${hidden} more`)] : lines;
    const status = `${statusText(role, tasks.length)}${about}  Ctrl-C stops`;
    return ["", ...shown, cut(paint(io, "dim", status), screen.columns)].join("\n");
  }

  function draw(news: readonly string[] = [], force = false): void {
    if (question !== null || phase === "closed") return;
    if (news.length === 0 && !force && screen.isBehind) {
      changesAt = 0;
      return;
    }
    const next = build();
    if (news.length === 0 && !force && next === drawn) return;
    const lines = [...news, next].map((line) => `${line}\n`);
    if (screen.write(`${erasure()}${lines.join("")}`, news.length)) drawn = next;
    else changesAt = 0;
  }

  function tick(): void {
    const now = Date.now();
    if (now >= changesAt || now < builtAt) draw();
  }

  /** A terminal that was made narrower has wrapped what stands there: lines count as what they take up now. */
  function erasure(): string {
    if (drawn === "") return "";
    const rows = drawn.split("\n").map((line) => Math.max(1, Math.ceil(seenWidth(line) / screen.columns)));
    return `\u001b[${rows.reduce((sum, count) => sum + count, 0)}A\u001b[0J`;
  }

  function erase(): void {
    if (screen.write(erasure(), 0)) drawn = "";
  }

  function log(lines: readonly string[]): void {
    if (question === null) draw(lines);
    else {
      const all = [...waiting, ...lines];
      waiting = all.slice(-MAX_WAITING);
      leftOut += all.length - waiting.length;
    }
  }

  function takeWaiting(): string[] {
    const note =
      leftOut === 0 ? [] : [paint(io, "dim", `(${leftOut} earlier lines left out during the question)`)];
    const lines = [...note, ...waiting];
    waiting = [];
    leftOut = 0;
    return lines;
  }

  /** null: not now. */
  async function put<T>(
    detail: string,
    withdrawn: readonly AbortSignal[],
    ask: (withdrawn: AbortSignal) => Promise<T>,
  ): Promise<T | null> {
    if (question !== null || phase !== "open") return null;
    erase();
    question = new AbortController();
    if (detail !== "") screen.write(`  ${cut(oneLine(detail), screen.columns - 2)}\n`);
    return ask(AbortSignal.any([question.signal, ...withdrawn])).finally(() => {
      question = null;
      draw(takeWaiting());
    });
  }

  return {
    open: ({ agent, firing, endAt }) => {
      about = ` · agent: ${agent}${endAt === null ? "" : ` · until ${renderClock(endAt, Date.now())}`}`;
      if (!firing) log([paint(io, "yellow", "Firing is off: LOOP_DISABLE_SCHEDULER=1.")]);
      const ticker = setInterval(tick, TICK_MS);
      undo = [
        io.divert({ say: (text) => log(printable(text).split("\n")) }),
        screen.onResize(() => draw([], true)),
        () => clearInterval(ticker),
      ];
      draw();
    },
    show: (news) => {
      if (news.type === "role") role = news.role;
      const count = liveTasks(project.store).length;
      log(renderNews(news, count, Date.now(), io).map((line) => cut(line, screen.columns)));
    },
    notify: (title, body) => log([`\u0007${renderNotice(title, body, io)}`]),
    problem: (error) => log([renderProblem(error, io)]),
    stopping: () => {
      phase = "stopping";
      question?.abort();
      log([paint(io, "dim", "Stopping …")]);
    },
    async ask(message, detail) {
      const answer = await put(detail, [], (signal) => askYesNo(message, signal));
      // in raw mode the terminal sends no signal for Ctrl-C
      if (answer === "cancelled") process.kill(process.pid, "SIGINT");
      return typeof answer === "boolean" ? answer : null;
    },
    askPermission: (message, withdrawn) => put("", [withdrawn], (signal) => askPermission(message, signal)),
    close: () => {
      phase = "closed";
      question?.abort();
      for (const step of undo) step();
      erase();
      const last = [...takeWaiting(), farewell(project)];
      screen.write(last.map((line) => `${line}\n`).join(""));
    },
  };
}

function statusText(role: Role | null, count: number): string {
  if (role === null) return "";
  return role === "passive" ? `loop:${count} (passive)` : `loop:${count}`;
}
