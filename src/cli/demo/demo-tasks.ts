/**
 * `loop demo tasks`: the real engine, journal, lease and checks on a sped-up clock, with a scripted agent.
 * A morning of three tasks in about ten seconds, with a closed laptop lid in the middle.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTasksAgent, type DemoPart } from "../../agents/demo/tasks-agent.ts";
import { createEngine, newLoopId, thisRunner } from "../../compose/engine.ts";
import { openStore } from "../../compose/open-store.ts";
import type { Outcome } from "../../core/event.ts";
import { planTask } from "../../core/task/plan.ts";
import { renderCadence } from "../../core/text/human.ts";
import { addTask, draftTask, type TaskDefaults } from "../../engine/tasks/tasks.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import { ensureLoopDir } from "../../store/folder/loop-dir.ts";
import { EXIT } from "../exit-codes.ts";
import { type Io, paint } from "../io.ts";
import { renderNews, renderNotice } from "../live/lines.ts";
import { cut } from "../render/table.ts";
import { renderClock } from "../render/times.ts";
import { readHistory, viewOutcome } from "../tasks/history.ts";
import { liveTasks, localZone } from "../tasks/list.ts";

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
  const project = mkdtempSync(join(tmpdir(), "loopwright demo "));
  const clock = createFastClock(morning());
  const say = (line: string) => {
    if (!flags.json) io.out(cut(line, process.stdout.columns ?? Number.POSITIVE_INFINITY));
  };
  try {
    const dir = ensureLoopDir(project);
    const store = openStore(dir, { now: clock.now, say });
    say(
      `${paint(io, "bold", "Loopwright demo")}: real engine, journal and checks; scripted agent; ${SPEED} times as fast as the clock.`,
    );
    say("");
    const agent = createTasksAgent(PARTS, project, clock, TURN_MS);
    await createTasks(store, clock, say);
    await runUntil(at(10, 26), "on the desk");
    say("");
    say(
      `${renderClock(clock.now(), clock.now())}  ${paint(io, "yellow", "The laptop lid is closed. Nothing runs for 40 minutes.")}`,
    );
    clock.jump(40 * MINUTE);
    say(`${renderClock(clock.now(), clock.now())}  ${paint(io, "yellow", "It is opened again.")}`);
    await runUntil(at(11, 13), "after the break");
    const { outcomes } = await readHistory(store);
    if (flags.json) io.json(outcomes.map(viewOutcome));
    else summarise(outcomes, say, io);
    return EXIT.ok;

    async function runUntil(endAt: number, what: string): Promise<void> {
      const engine = createEngine({
        store,
        project,
        agent,
        notifier: { notify: (title, body) => say(`  ${renderNotice(title, body, io)}`) },
        self: thisRunner(),
        firing: true,
        clock,
        observe: (news) => {
          for (const line of renderNews(news, liveTasks(store).length, clock.now(), io)) say(line);
        },
      });
      engine.start();
      clock.wake(endAt, () => void engine.stop(`the demo moved on (${what})`));
      await engine.done;
    }
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
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
    `  ${outcomes.length} slots came due: ${count("ok")} succeeded, ${count("failed")} failed, ${count("missed")} were missed, ${count("skipped")} skipped.`,
  );
  say(
    `  ${refuted} of the failures claimed to be done; the engine ran the check itself and found otherwise.`,
  );
  say(
    "  Every slot that did not fire has a line that says why; each recurring task fired once after the break.",
  );
  say(
    "  Next: loop 5m <prompt> in your own project, then loop up. It fires into Claude Code or --agent-cmd.",
  );
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

function morning(): number {
  return at(9, 55);
}

function at(hour: number, minute: number): number {
  return new Date().setHours(hour, minute, 0, 0);
}
