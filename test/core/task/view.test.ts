import { expect, test } from "vitest";
import { viewTask } from "../../../src/core/task/view.ts";
import {
  changed,
  cron,
  DAY,
  every,
  finish,
  fires,
  HOUR,
  MINUTE,
  once,
  paced,
  START,
  task,
} from "../../support/tasks.ts";

test("A3 A9 a task as it is shown: schedule, state, next and last fire in ISO time", () => {
  const loop = task(cron("0 * * * *", "Europe/Paris"), {
    expiresAt: START + 7 * DAY,
    expect: "true",
    alertAfter: 2,
  });
  const running = fires({ ...loop, jitterMs: MINUTE }, START + HOUR + MINUTE).loop;
  const started = changed(
    running,
    { type: "fire.started", fireId: running.fire?.id as never, process: null },
    START + HOUR + MINUTE,
  ).loop;
  expect(viewTask(started)).toEqual({
    id: "a1b2c3d4",
    cron: "0 * * * *",
    everyMs: null,
    tz: "Europe/Paris",
    prompt: "check the deploy",
    recurring: true,
    durable: true,
    where: "either",
    state: "active",
    stateReason: null,
    running: true,
    waiting: null,
    createdAt: "2026-01-05T10:00:00.000Z",
    expiresAt: "2026-01-12T10:00:00.000Z",
    lastFiredAt: "2026-01-05T11:01:00.000Z",
    nextFireAt: "2026-01-05T12:01:00.000Z",
    jitterMs: MINUTE,
    human: "Every hour",
    missed: "once",
    graceMs: null,
    timeoutMs: loop.timeoutMs,
    expect: "true",
    alertAfter: 2,
    failuresInARow: 0,
    version: 3,
  });
  expect(viewTask(finish(started, START + 2 * HOUR, "failed").loop)).toMatchObject({
    running: false,
    failuresInARow: 1,
  });
});

test("A3 every kind of schedule, paused and session-only tasks", () => {
  expect(viewTask(task(every(7 * MINUTE)))).toMatchObject({ cron: null, everyMs: 7 * MINUTE, tz: null });
  expect(viewTask(task(once(START + HOUR)))).toMatchObject({
    recurring: false,
    cron: null,
    tz: "UTC",
    nextFireAt: "2026-01-05T11:00:00.000Z",
  });
  expect(viewTask(task(paced(), { runNow: true }))).toMatchObject({ recurring: true, nextFireAt: null });
  const paused = changed(
    task(cron("0 * * * *"), { session: "session:x" }),
    { type: "task.paused" },
    START,
  ).loop;
  const ended = changed(task(cron("0 * * * *")), { type: "task.deleted", reason: "done" }, START).loop;
  expect(viewTask(ended)).toMatchObject({ state: "ended", nextFireAt: null });
  expect(viewTask(paused)).toMatchObject({
    durable: false,
    state: "paused",
    stateReason: "paused by a person",
    nextFireAt: null,
  });
});
