import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTasksAgent } from "../../../src/agents/demo/tasks-agent.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import {
  failedAs,
  makeControl,
  makeProject,
  makeTurn,
  type Project,
  plainEnd,
} from "../../fixtures/agents/project.ts";

/** A clock that only goes when it is told to. */
function makeClock() {
  let now = 0;
  const wakes = new Set<{ readonly at: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => now,
    wake(at, callback) {
      const wake = { at, callback };
      wakes.add(wake);
      return { cancel: () => void wakes.delete(wake) };
    },
  };
  return {
    clock,
    waits: () => wakes.size,
    async goTo(moment: number): Promise<void> {
      now = moment;
      for (const wake of [...wakes].filter(({ at }) => at <= moment)) {
        wakes.delete(wake);
        wake.callback();
      }
    },
  };
}

const PARTS = [{ about: /deploy/, answers: [{ says: "not yet" }, { says: "done", does: "notes.md" }] }];
const turn = makeTurn({ text: "deploy?", deadlineAt: 10_000 });

let project: Project;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project.remove());

test("E4 it takes its time, answers in turn, really writes, and stays with its last word", async () => {
  const { clock, goTo, waits } = makeClock();
  const agent = createTasksAgent(PARTS, project.dir, clock, 100);
  const notes = join(project.dir, "notes.md");
  const ask = async (text: string) => {
    const control = makeControl();
    const end = agent.run({ ...turn, text }, control);
    expect([control.started, waits()]).toEqual([[null], 1]);
    await goTo(clock.now() + 99);
    expect(waits()).toBe(1);
    await goTo(clock.now() + 1);
    return end;
  };
  expect(await ask("deploy?")).toEqual(plainEnd("not yet"));
  expect(existsSync(notes)).toBe(false);
  expect([await ask("deploy?"), await ask("deploy?"), await ask("else")]).toEqual(
    ["done", "done", "Done."].map(plainEnd),
  );
  expect(existsSync(notes)).toBe(true);
});

test("B13 a file that cannot be written, and a turn that takes too long", async () => {
  const { clock, goTo } = makeClock();
  const nowhere = [{ about: /./, answers: [{ says: "done", does: "no/such/folder" }] }];
  const ends = Promise.all([
    createTasksAgent(nowhere, project.dir, clock, 100).run(turn, makeControl()),
    createTasksAgent(PARTS, project.dir, clock, 20_000).run(turn, makeControl()),
  ]);
  await goTo(10_000);
  expect(await ends).toMatchObject([
    failedAs("fault", expect.stringContaining("the script failed")),
    failedAs("timeout", "timed out"),
  ]);
});

test("H1 cancelled it stops at once and leaves no timer; of another runner's turn it knows nothing", async () => {
  const { clock, waits } = makeClock();
  const agent = createTasksAgent(PARTS, project.dir, clock, 100);
  const control = makeControl();
  const end = agent.run(turn, control);
  control.abort();
  expect(await end).toEqual({ kind: "cancelled" });
  expect(waits()).toBe(0);
  expect(await agent.run(turn, control)).toEqual({ kind: "cancelled" });
  expect(await agent.reconcile(turn, makeControl())).toMatchObject({ kind: "lost" });
});
