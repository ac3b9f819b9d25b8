/**
 * The live list in a terminal: news scroll above, the list stays below and is redrawn in place.
 *
 * 1. The list is rebuilt on news, and on a tick only when a shown time changes.
 * 2. Erasing, news and list are one write: a slow terminal gets all of it or nothing.
 * 3. An open question stops drawing; the newest news wait.
 */

import { cleanText } from "../../core/text/clean.ts";
import { viewTask } from "../../core/views/task-view.ts";
import type { Role } from "../../engine/engine.ts";
import { liveTasks } from "../../engine/tasks/tasks.ts";
import { localZone } from "../../system/time-zone.ts";
import { type Io, paint } from "../io.ts";
import type { Project } from "../project.ts";
import { cut, oneLine, seenWidth } from "../render/table.ts";
import { listChangesAt, renderTaskList } from "../render/task-list.ts";
import { renderClock } from "../render/times.ts";
import { farewell } from "./line-view.ts";
import { renderNews, renderNotice, renderProblem } from "./lines.ts";
import { createOutlet, leftOutText, type Outlet } from "./outlet.ts";
import { askPermission, askYesNo } from "./question.ts";
import type { LiveView } from "./view.ts";

export interface Screen extends Outlet {
  readonly columns: number;
  readonly rows: number;
  onResize(callback: () => void): () => void;
}

const TICK_MS = 1_000;
const MAX_WAITING = 200;

export function createScreenView(
  project: Project,
  io: Io,
  open: (onBack: (lines: number) => void) => Screen = openScreen,
): LiveView {
  const screen = open((lines) => list.log([paint(io, "dim", leftOutText(lines))]));
  const list = new LiveList(project, io, screen);
  let undo: (() => void)[] = [];
  return {
    open: ({ agent, firing, endAt }) => {
      list.about = ` · agent: ${agent}${endAt === null ? "" : ` · until ${renderClock(endAt, Date.now())}`}`;
      if (!firing) list.log([paint(io, "yellow", "Scheduling is off: LOOP_DISABLE_SCHEDULER=1.")]);
      const ticker = setInterval(() => list.tick(), TICK_MS);
      undo = [
        io.divert({ say: (text) => list.log(cleanText(text).split("\n")) }),
        screen.onResize(() => list.draw([], true)),
        () => clearInterval(ticker),
      ];
      list.draw();
    },
    show: (news) => {
      if (news.type === "role") list.role = news.role;
      const count = liveTasks(project.store).length;
      list.log(renderNews(news, count, Date.now(), io).map((line) => cut(line, screen.columns)));
    },
    notify: (title, body) => list.log([`\u0007${renderNotice(title, body, io)}`]),
    problem: (error) => list.log([renderProblem(error, io)]),
    stopping: () => {
      list.endQuestions();
      list.log([paint(io, "dim", "Stopping …")]);
    },
    async ask(message, detail) {
      const answer = await list.put(detail, [], (signal) => askYesNo(message, signal));
      // in raw mode the terminal sends no signal for Ctrl-C
      if (answer === "cancelled") process.kill(process.pid, "SIGINT");
      return typeof answer === "boolean" ? answer : null;
    },
    askPermission: (message, withdrawn) =>
      list.put("", [withdrawn], (signal) => askPermission(message, signal)),
    close: () => {
      for (const step of undo) step();
      list.close(farewell(project));
    },
  };
}

function openScreen(onBack: (lines: number) => void): Screen {
  const { stdout } = process;
  const outlet = createOutlet(stdout, onBack);
  return {
    write: outlet.write,
    get isBehind() {
      return outlet.isBehind;
    },
    get columns() {
      return stdout.columns ?? 80;
    },
    get rows() {
      return stdout.rows ?? 24;
    },
    onResize: (callback) => {
      stdout.on("resize", callback);
      return () => stdout.off("resize", callback);
    },
  };
}

class LiveList {
  role: Role | null = null;
  about = "";
  readonly #project: Project;
  readonly #io: Io;
  readonly #screen: Screen;
  readonly #zone = localZone();
  #drawn = "";
  #builtAt = 0;
  #changesAt = 0;
  #question: AbortController | null = null;
  #waiting: string[] = [];
  #leftOut = 0;
  /** stopping: no more questions; closed: no more output. */
  #phase: "open" | "stopping" | "closed" = "open";

  constructor(project: Project, io: Io, screen: Screen) {
    this.#project = project;
    this.#io = io;
    this.#screen = screen;
  }

  draw(news: readonly string[] = [], force = false): void {
    if (this.#question !== null || this.#phase === "closed") return;
    if (news.length === 0 && !force && this.#screen.isBehind) {
      this.#changesAt = 0;
      return;
    }
    const next = this.#build();
    if (news.length === 0 && !force && next === this.#drawn) return;
    const lines = [...news, next].map((line) => `${line}\n`);
    if (this.#screen.write(`${this.#erasure()}${lines.join("")}`, news.length)) this.#drawn = next;
    else this.#changesAt = 0;
  }

  tick(): void {
    const now = Date.now();
    if (now >= this.#changesAt || now < this.#builtAt) this.draw();
  }

  log(lines: readonly string[]): void {
    if (this.#question === null) {
      this.draw(lines);
      return;
    }
    const all = [...this.#waiting, ...lines];
    this.#waiting = all.slice(-MAX_WAITING);
    this.#leftOut += all.length - this.#waiting.length;
  }

  /** null: another question is open, or the run is stopping. */
  async put<T>(
    detail: string,
    withdrawn: readonly AbortSignal[],
    ask: (withdrawn: AbortSignal) => Promise<T>,
  ): Promise<T | null> {
    if (this.#question !== null || this.#phase !== "open") return null;
    this.#erase();
    this.#question = new AbortController();
    const { columns } = this.#screen;
    if (detail !== "") this.#screen.write(`  ${cut(oneLine(detail), columns - 2)}\n`);
    return ask(AbortSignal.any([this.#question.signal, ...withdrawn])).finally(() => {
      this.#question = null;
      this.draw(this.#takeWaiting());
    });
  }

  endQuestions(): void {
    this.#phase = "stopping";
    this.#question?.abort();
  }

  close(last: string): void {
    this.#phase = "closed";
    this.#question?.abort();
    this.#erase();
    this.#screen.write([...this.#takeWaiting(), last].map((line) => `${line}\n`).join(""));
  }

  #build(): string {
    const { columns } = this.#screen;
    this.#builtAt = Date.now();
    const tasks = liveTasks(this.#project.store).map(viewTask);
    this.#changesAt = listChangesAt(tasks, this.#builtAt);
    const rows = Math.max(3, this.#screen.rows - 6);
    const list =
      tasks.length === 0
        ? "No tasks yet. Create one in another terminal: loop 5m <prompt>"
        : renderTaskList(tasks, this.#zone, this.#builtAt, this.#io, columns);
    const lines = list.split("\n");
    const hidden = lines.length - rows;
    const shown = hidden > 0 ? [...lines.slice(0, rows), this.#dim(`… and ${hidden} more`)] : lines;
    const status = `${statusText(this.role, tasks.length)}${this.about}  Ctrl-C stops`;
    return ["", ...shown, cut(this.#dim(status), columns)].join("\n");
  }

  /** A narrower terminal has wrapped the lines, so rows are counted at the current width. */
  #erasure(): string {
    if (this.#drawn === "") return "";
    const { columns } = this.#screen;
    const rows = this.#drawn.split("\n").map((line) => Math.max(1, Math.ceil(seenWidth(line) / columns)));
    return `\u001b[${rows.reduce((sum, count) => sum + count, 0)}A\u001b[0J`;
  }

  #erase(): void {
    if (this.#screen.write(this.#erasure(), 0)) this.#drawn = "";
  }

  #takeWaiting(): string[] {
    const note =
      this.#leftOut === 0 ? [] : [this.#dim(`(${this.#leftOut} earlier lines left out during the question)`)];
    const lines = [...note, ...this.#waiting];
    this.#waiting = [];
    this.#leftOut = 0;
    return lines;
  }

  #dim(text: string): string {
    return paint(this.#io, "dim", text);
  }
}

function statusText(role: Role | null, count: number): string {
  if (role === null) return "";
  return role === "passive" ? `loop:${count} (passive)` : `loop:${count}`;
}
