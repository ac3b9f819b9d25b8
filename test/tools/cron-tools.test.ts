/** The tools that agents get: every answer is a value, and an error is a sentence that an agent can act on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { decide } from "../../src/core/decide.ts";
import type { FireId, LoopId, Task } from "../../src/core/loop.ts";
import { addTask } from "../../src/engine/tasks/tasks.ts";
import { FolderStore } from "../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../src/store/folder/loop-dir.ts";
import {
  cronCreate,
  cronCreateInput,
  cronDelete,
  cronDeleteInput,
  cronList,
  cronListInput,
  type ToolContext,
  wakeup,
  wakeupInput,
} from "../../src/tools/cron-tools.ts";

const NOW = Date.parse("2026-03-02T08:00:00Z");

function openContext(
  changes: Partial<Omit<ToolContext, "store">> = {},
): ToolContext & { store: FolderStore } {
  const project = mkdtempSync(join(tmpdir(), "loop tools "));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  let count = 0;
  const store = new FolderStore(ensureLoopDir(project), { now: () => NOW, say: () => {} });
  return {
    store,
    now: () => NOW,
    newId: () => (0xab000000 + count++).toString(16),
    tz: "UTC",
    maxTasks: 3,
    expiresMs: 7 * 86_400_000,
    turnTimeoutMs: 3_600_000,
    jitter: false,
    session: "session:1",
    ...changes,
  };
}

describe("CronCreate", () => {
  test("A15 A16 answers with the id, the schedule in words and the next fire, and does not run at once", async () => {
    const context = openContext();
    expect(await cronCreate(context, { cron: "0 9 * * 1-5", prompt: " look " })).toEqual({
      ok: true,
      id: "ab000000",
      humanSchedule: "Weekdays at 9:00 AM",
      recurring: true,
      durable: true,
      nextFireAt: "2026-03-02T09:00:00.000Z",
    });
    const [task] = [...context.store.loops()];
    expect(task).toMatchObject({
      prompt: "look",
      request: null,
      session: null,
      expiresAt: NOW + 7 * 86_400_000,
    });
  });

  test("A15 once, and for the conversation only", async () => {
    const context = openContext();
    const made = await cronCreate(context, {
      cron: "30 8 * * *",
      prompt: "x",
      recurring: false,
      durable: false,
    });
    expect(made).toMatchObject({
      ok: true,
      recurring: false,
      durable: false,
      nextFireAt: "2026-03-02T08:30:00.000Z",
    });
    expect([...context.store.loops()]).toMatchObject([
      { session: "session:1", expiresAt: null, cadence: { kind: "once" } },
    ]);
  });

  test.each([
    [{ cron: "61 * * * *", prompt: "x" }, /minute field has "61"/],
    [{ cron: "0 0 30 2 *", prompt: "x" }, /matches no time within a year/],
    [{ cron: "* * * * *", prompt: "   " }, /prompt is empty/],
    [{ cron: "* * * * *", prompt: "" }, /^prompt: /],
    [{ cron: "* * * * *" }, /^prompt: /],
    [{ prompt: "x" }, /^cron: /],
    [{ cron: "* * * * *", prompt: "x", recurring: "yes" }, /^recurring: /],
    [{ cron: "* * * * *", prompt: "x", extra: 1 }, /extra/],
    [null, /^input: /],
    ["* * * * *", /^input: /],
  ])("A15 A14 H5 %j comes back as an error and creates nothing", async (input, sentence) => {
    const context = openContext();
    expect(await cronCreate(context, input)).toEqual({ ok: false, error: expect.stringMatching(sentence) });
    expect([...context.store.loops()]).toEqual([]);
  });

  test("A15 A8 the limit, and a conversation that is none, are values too", async () => {
    const context = openContext();
    const input = { cron: "0 9 * * *", prompt: "x" };
    for (let n = 0; n < 3; n++) expect(await cronCreate(context, input)).toMatchObject({ ok: true });
    expect(await cronCreate(context, input)).toEqual({
      ok: false,
      error: expect.stringMatching(/at most 3 .*maxTasks/),
    });
    const alone = openContext({ session: null });
    expect(await cronCreate(alone, { ...input, durable: false })).toMatchObject({
      ok: false,
      error: expect.stringContaining("leave durable out"),
    });
  });
});

describe("CronDelete and CronList", () => {
  test("A15 list shows what lives, delete takes a unique beginning, and another process's work is seen", async () => {
    const context = openContext();
    const other = {
      ...context,
      store: new FolderStore(context.store.dir, { now: () => NOW, say: () => {} }),
    };
    const made = await cronCreate(other, { cron: "*/5 * * * *", prompt: "x" });
    expect(await cronList(context)).toMatchObject({
      ok: true,
      tasks: [{ id: "ab000000", human: "Every 5 minutes" }],
    });
    expect(made.ok).toBe(true);
    expect(await cronDelete(context, { id: "ab" })).toEqual({ ok: true, id: "ab000000" });
    expect(await cronList(context, {})).toEqual({ ok: true, tasks: [] });
    expect(await cronDelete(context, { id: "ab" })).toMatchObject({
      ok: false,
      error: expect.stringContaining("There is no task ab"),
    });
    expect(await cronDelete(context, { id: "x y" })).toMatchObject({
      ok: false,
      error: expect.stringContaining("is not an id"),
    });
    expect(await cronDelete(context, {})).toMatchObject({ ok: false, error: expect.stringMatching(/^id: /) });
    expect(await cronList(context, { all: true })).toMatchObject({ ok: false });
  });
});

describe("Wakeup", () => {
  async function fireOf(context: ReturnType<typeof openContext>): Promise<FireId> {
    const draft = {
      prompt: "watch",
      cadence: { kind: "paced", wakeAt: null, reason: null } as const,
      session: null,
      expiresAt: null,
      jitter: false,
      missed: null,
      graceMs: null,
      expect: null,
      alertAfter: null,
      timeoutMs: 1_000,
      runNow: true,
      importedFrom: null,
    };
    const task = await addTask(context.store, draft, 50, NOW, context.newId);
    const holder = { owner: "runner:test", pid: process.pid, procStart: null, host: "here", acquiredAt: NOW };
    const lease = await context.store.acquire(holder, context.store.lastToken());
    const token = lease?.token ?? 0;
    const event = { type: "task.due", token, awakeSince: 0 } as const;
    const decision = decide(task, event, NOW);
    if (decision.kind !== "change" || decision.loop.fire === null) throw new Error("it was not due");
    const { loop, effects, outcomes } = decision;
    const commit = {
      id: task.id,
      expectedVersion: task.version,
      loop,
      event,
      effects,
      outcomes,
      at: NOW,
      token,
    };
    expect(await context.store.commit(commit)).toEqual({ kind: "committed" });
    return decision.loop.fire.id;
  }
  const loaded = (context: ToolContext) => context.store.load("ab000000" as LoopId) as Task;

  test("A17 sets the wake-up of the running turn, or its end", async () => {
    const context = openContext();
    const fireId = await fireOf(context);
    expect(await wakeup(context, fireId, { delaySeconds: 300, reason: "quiet" })).toEqual({
      ok: true,
      wakeup: "sleep",
    });
    expect(loaded(context).fire?.wakeup).toEqual({ kind: "sleep", delayMs: 300_000, reason: "quiet" });
    expect(await wakeup(context, fireId, { stop: true })).toEqual({ ok: true, wakeup: "stop" });
    expect(loaded(context).fire?.wakeup).toMatchObject({ kind: "stop" });
  });

  test.each([
    [{ delaySeconds: 59, reason: "x" }, /^delaySeconds: .*60/],
    [{ delaySeconds: 3_601, reason: "x" }, /^delaySeconds: .*3600/],
    [{ delaySeconds: "300", reason: "x" }, /^delaySeconds: /],
    [{ delaySeconds: 300 }, /^reason: give the reason in one short sentence/],
    [{ delaySeconds: 300, stop: true, reason: "x" }, /either delaySeconds with a reason, or stop: true/],
    [{}, /either delaySeconds with a reason, or stop: true/],
    [{ stop: false }, /^stop: /],
    [{ delaySeconds: 300, reason: "x", fireId: "mine" }, /fireId/],
  ])("A17 H5 %j is refused with what is wrong, and sets nothing", async (input, sentence) => {
    const context = openContext();
    const fireId = await fireOf(context);
    expect(await wakeup(context, fireId, input)).toEqual({
      ok: false,
      error: expect.stringMatching(sentence),
    });
    expect(loaded(context).fire?.wakeup).toBeNull();
  });

  test("A17 outside a turn it is refused", async () => {
    const context = openContext();
    expect(await wakeup(context, "x" as FireId, { stop: true })).toEqual({
      ok: false,
      error: "No turn of a self-paced loop is running.",
    });
  });
});

test("A15 every input has a JSON Schema with an object at the top, as clients want it", () => {
  for (const schema of [cronCreateInput, cronDeleteInput, cronListInput, wakeupInput])
    expect(z.toJSONSchema(schema, { io: "input" })).toMatchObject({
      type: "object",
      additionalProperties: false,
    });
});
