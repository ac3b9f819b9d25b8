/**
 * `loop demo tasks`: a morning of three tasks in about ten seconds, with a closed laptop lid in the middle. The engine,
 * journal, lease and checks are real; the clock is faster and the agent is scripted.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTasksAgent, type DemoPart } from "../../agents/demo/tasks-agent.ts";
import { newLoopId } from "../../compose/engine.ts";
import { openStore } from "../../compose/open-store.ts";
import type { Outcome } from "../../core/event.ts";
import { planTask } from "../../core/task/plan.ts";
import { renderCadence } from "../../core/text/human.ts";
import { viewOutcome } from "../../core/views/outcome-view.ts";
import { addTask, draftTask, liveTasks, type TaskDefaults } from "../../engine/tasks/tasks.ts";
import type { Agent } from "../../ports/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import { ensureLoopDir } from "../../store/folder/loop-dir.ts";
import { localZone } from "../../system/time-zone.ts";
import { EXIT } from "../exit-codes.ts";
import { type Io, paint } from "../io.ts";
import { renderNews, renderNotice } from "../live/lines.ts";
import { createPlainView } from "../live/view.ts";
import type { Project } from "../project.ts";
import { cut } from "../render/table.ts";
import { renderClock } from "../render/times.ts";
import { runForeground } from "../run/foreground.ts";
import { listenForStop, type StopRequest } from "../run/signals.ts";
import { readHistory } from "../tasks/history.ts";

const SPEED = 300;
const MINUTE = 60_000;
const TURN_MS = MINUTE;

const DEFAULTS: TaskDefaults = {
  expiresMs: 7 * 24 * 60 * MINUTE,
  jitter: false,
  turnTimeoutMs: 60 * MINUTE,
};

const TASKS: readonly { words: string; expect: string | null }[] = [
  { words: "10m check if the deployment finished", expect: null },
  { words: "20m publish the release notes", expect: "test -f release-notes.md" },
  { words: "at 10:15 remind me to call the customer", expect: null },
];

const PARTS: readonly DemoPart[] = [
  {
    about: /deployment/,
    answers: [
      { says: "Still rolling out: 2 of 5 pods." },
      { says: "Still rolling out: 4 of 5 pods." },
      { says: "The deployment finished." },
    ],
  },
  {
    about: /release notes/,
    answers: [
      { says: "Done, the release notes are published." },
      { says: "Done, the release notes are published.", does: "release-notes.md" },
    ],
  },
  { about: /customer/, answers: [{ says: "Reminder: call the customer." }] },
];

export async function demoTasks(flags: { json?: boolean }, io: Io): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), "loopwright demo "));
  const clock = createFastClock(at(9, 55));
  const stop = listenForStop();
  const say = (line: string) => {
    if (!flags.json) io.out(cut(line, process.stdout.columns ?? Number.POSITIVE_INFINITY));
  };
  const sayAt = (line: string) =>
    say(`${renderClock(clock.now(), clock.now())}  ${paint(io, "yellow", line)}`);
  try {
    const dir = ensureLoopDir(root);
    const store = openStore(dir, { now: clock.now, say });
    say(
      `${paint(io, "bold", "Loopwright demo")}: the engine, the journal and the checks are real. The agent is scripted, and time runs ${SPEED} times faster.`,
    );
    say("");
    const agent = createTasksAgent(PARTS, root, clock, TURN_MS);
    const demo: Demo = { project: { root, dir, store }, agent, clock, stop, say, io };
    await createTasks(store, clock, say);
    await runUntil(at(10, 26), "on the desk", demo);
    say("");
    sayAt("You close the laptop lid. Nothing runs for 40 minutes.");
    clock.jump(40 * MINUTE);
    sayAt("You open the lid again.");
    await runUntil(at(11, 13), "after the break", demo);
    if (stop.signal.aborted) return EXIT.interrupted;
    const { outcomes } = await readHistory(store);
    if (flags.json) io.json(outcomes.map(viewOutcome));
    else summarise(outcomes, say, io);
    return EXIT.ok;
  } finally {
    rmSync(root, { recursive: true, force: true });
    stop.off();
  }
}

interface Demo {
  readonly project: Project;
  readonly agent: Agent;
  readonly clock: FastClock;
  readonly stop: StopRequest;
  readonly say: (line: string) => void;
  readonly io: Io;
}

async function runUntil(endAt: number, what: string, demo: Demo): Promise<void> {
  const { project, agent, clock, stop, say, io } = demo;
  if (stop.signal.aborted) return;
  await runForeground(
    {
      project,
      agent,
      firing: true,
      clock,
      stop,
      view: { ...createPlainView(io), notify: (title, body) => say(`  ${renderNotice(title, body, io)}`) },
    },
    (run) => ({
      started: () => void clock.wake(endAt, () => void run.stop(`the demo moved on (${what})`)),
      observe: (news) => {
        for (const line of renderNews(news, liveTasks(project.store).length, clock.now(), io)) say(line);
      },
    }),
  );
}

async function createTasks(store: Store, clock: Clock, say: (line: string) => void): Promise<void> {
  const tz = localZone();
  for (const { words, expect } of TASKS) {
    const now = clock.now();
    const planned = planTask({ words, cron: null, tz, exact: false, defaultIntervalMs: 10 * MINUTE, now });
    if (planned.kind !== "plan") throw new Error(`the demo's own words do not parse: ${words}`);
    const { cadence, prompt } = planned;
    const draft = draftTask({ prompt, cadence, expect }, DEFAULTS, now);
    const task = await addTask(store, draft, 50, now, newLoopId);
    say(`$ loop ${words}${expect === null ? "" : ` --expect '${expect}'`}`);
    say(`  Created ${task.id}: ${renderCadence(cadence)}`);
  }
  say("$ loop up");
}

function summarise(outcomes: readonly Outcome[], say: (line: string) => void, io: Io): void {
  const count = (kind: Outcome["outcome"]) => outcomes.filter(({ outcome }) => outcome === kind).length;
  const refuted = outcomes.filter(({ reason }) => reason?.startsWith("expected ")).length;
  say("");
  say(paint(io, "bold", "What happened"));
  say(
    `  ${outcomes.length} slots were due: ${count("ok")} succeeded, ${count("failed")} failed, ${count("missed")} were missed, ${count("skipped")} were skipped.`,
  );
  say(`  In ${refuted} of the failures the agent claimed success, and the engine's own check failed.`);
  say("  The history says why each other slot did not fire. Each recurring task fired once after the break.");
  say("  Next, in your own project: loop 5m <prompt>, then loop up");
}

interface FastClock extends Clock {
  jump(ms: number): void;
}

function createFastClock(startAt: number): FastClock {
  const realStart = Date.now();
  let jumped = 0;
  const now = () => Math.floor(startAt + jumped + (Date.now() - realStart) * SPEED);
  return {
    now,
    wake(at, callback) {
      const timer = setTimeout(callback, Math.max(0, at - now()) / SPEED);
      return { cancel: () => clearTimeout(timer) };
    },
    jump: (ms) => {
      jumped += ms;
    },
  };
}

function at(hour: number, minute: number): number {
  return new Date().setHours(hour, minute, 0, 0);
}
