/**
 * Tasks that fire into conversations of the real Claude Code: at their time and between turns, once however many are
 * open, and elsewhere where none is.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isClaudeMissing, whyMissing } from "../../support/claude/claude-client.ts";
import {
  askedAt,
  clockPasses,
  firesOf,
  heard,
  hearsOften,
  leads,
  makePluginWorld,
  newIn,
  onlyTask,
  openModel,
  tellLoop,
} from "../../support/claude/plugin-world.ts";
import { slow } from "../../support/claude/scripted-model.ts";
import { create, historyOf, listOf, runLoop, startLoop } from "../../support/cli.ts";
import { say } from "../../support/goals/goal-replies.ts";
import { hasTmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

/** The client takes a second a turn, and several where the machine is busy; one test waits for a minute to begin. */
const TEST_MS = 150_000;

const whyNot = hasTmux ? whyMissing : `${whyMissing} (no tmux)`;
describe.skipIf(isClaudeMissing || !hasTmux)(`tasks in the real Claude Code${whyNot}`, () => {
  test(
    "A5 A6 A11 D6 E1 a minute's task fires at its minute, once with two open; killed, the first is followed by the second",
    async () => {
      const { project, model, open } = await makePluginWorld(say("fine"));
      const other = await openModel(say("fine too"));
      const one = await open({ settings: { statusLine: STATUS_LINE } });
      await tellLoop(one, "/loopwright --no-now 1m say hi", /Created .*Every minute/);
      await leads(project, one);
      const two = await open({ model: other });
      const task = await onlyTask(project);
      expect(task).toMatchObject({ cron: "*/1 * * * *", lastFiredAt: null });
      const dueAt = Date.parse(task.nextFireAt ?? "");
      expect((dueAt - task.jitterMs) % 60_000).toBe(0);
      await one.sees(/^ *loop:1$/m);
      await two.sees(/^ *loop:1 \(passive\)$/m);

      const late = askedAt(await model.hears(/say hi/, 70_000)) - dueAt;
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThanOrEqual(2_000);
      expect(await firesOf(project, task.id, 1)).toMatchObject([{ kind: "scheduled", outcome: "ok" }]);
      expect(model.bodies).toHaveLength(1);
      expect(other.bodies).toEqual([]);
      await runLoop(["delete", task.id], { cwd: project });

      const { id } = await create(project, "--exact", "--no-jitter", "--no-now", "2s", "say ho");
      await hearsOften(model, /say ho/, 1);
      process.kill(one.pid(), "SIGKILL");
      const killedAt = Date.now();
      await leads(project, two);
      expect(Date.now() - killedAt).toBeLessThan(5_000);
      await hearsOften(other, /say ho/, 2);
      await two.sees(/^ *loop:1$/m);
      await runLoop(["delete", id], { cwd: project });
      const slots = (await historyOf(project, id)).map(({ slot }) => slot);
      expect(slots).toEqual([...new Set(slots)]);
      await one.ended();
    },
    TEST_MS,
  );

  test(
    "A5 E1 it never fires into a turn, nor between its calls of tools: the newest slot fires after it, once",
    async () => {
      const calls = [{ name: "Bash", input: { command: "true", description: "nothing" } }];
      const [first, second] = [slow("alpha\n\nomega", { calls }), slow("beta\n\nend")];
      const { project, model, open } = await makePluginWorld(first, second, say("fine"));
      const claude = await open();
      await claude.type("take your time");
      await model.asks(1);
      // there was no `.loop` when the turn began
      const { id, nextFireAt } = await create(project, ...EVERY_2S, "say hi");
      await clockPasses(Date.parse(nextFireAt ?? "") + 1_500);
      first.release();
      const talk = await model.asks(2);
      await clockPasses(Date.now() + 1_500);
      expect(JSON.stringify(model.bodies.map(({ messages }) => messages))).not.toMatch(
        /say hi|is due \[wake/,
      );
      expect(model.bodies).toHaveLength(2);
      second.release();

      const body = await model.hears(/say hi/);
      expect(model.bodies.indexOf(body)).toBe(2);
      expect(body.askedAt).toBeGreaterThan(talk.answeredAt ?? Number.POSITIVE_INFINITY);
      // what was said before is still there: it is the same conversation
      expect(body.messages.some(({ text }) => text.includes("take your time"))).toBe(true);
      await firesOf(project, id, 1);
      await runLoop(["delete", id], { cwd: project });
      expect((await historyOf(project, id))[0]).toMatchObject({
        outcome: "skipped",
        reason: "another turn was running, and a later slot came due",
      });
    },
    TEST_MS,
  );

  test(
    "A5 A18 E1 Esc ends the fire and not the task; what the fire was to bring about decides how it ended",
    async () => {
      const { project, model, open } = await makePluginWorld(slow("alpha\n\nomega"), say("fine"));
      const claude = await open();
      const { id } = await create(project, ...EVERY_2S, "--expect", "test -f made", "make it");
      await claude.sees(/● alpha/);
      claude.escape();
      await claude.sees(/Interrupted/);
      const [first, second] = await firesOf(project, id, 2);
      expect(first).toMatchObject({ outcome: "interrupted" });
      expect(second).toMatchObject({
        outcome: "failed",
        reason: "expected `test -f made` to pass: exit 1",
      });
      writeFileSync(join(project, "made"), "");
      await until(
        async () => (await historyOf(project, id)).some(({ outcome }) => outcome === "ok"),
        "a fire has brought it about",
      );
      expect(heard(model, /make it/).length).toBeGreaterThanOrEqual(3);
      await runLoop(["delete", id], { cwd: project });
    },
    TEST_MS,
  );

  test(
    "D6 H1 E1 with its server killed a conversation goes on firing",
    async () => {
      const { project, model, open } = await makePluginWorld(say("fine"));
      const claude = await open();
      const { id } = await create(project, ...EVERY_2S, "say hi");
      await firesOf(project, id, 1);
      const server = (await listOf(project)).owner?.pid ?? 0;
      expect(server).not.toBe(claude.pid());
      process.kill(server, "SIGKILL");
      await firesOf(project, id, 3);
      const fires = await historyOf(project, id);
      expect(fires.map(({ slot }) => slot)).toEqual([...new Set(fires.map(({ slot }) => slot))]);
      expect(heard(model, /say hi/).length).toBeGreaterThanOrEqual(3);
      expect((await listOf(project)).owner?.owner).toBe(`session:${claude.sessionId()}`);
    },
    TEST_MS,
  );

  test(
    "A9 A12 E1 after /clear the durable task goes on in the new conversation; --session ends with the old one",
    async () => {
      const { project, model, open } = await makePluginWorld(say("fine"));
      const claude = await open();
      const { id } = await create(project, ...EVERY_2S, "durable work");
      await tellLoop(claude, "/loopwright --session --exact --no-jitter 3s passing work", /Created/);
      await hearsOften(model, /passing work/, 1);
      await hearsOften(model, /durable work/, 1);
      const before = claude.sessionId();
      await claude.type("/clear");
      await until(() => claude.sessionId() !== before, "there is another conversation");
      const begun = model.bodies.length;
      await until(async () => (await listOf(project)).tasks.length === 1, "the session's task is gone");
      expect(await onlyTask(project)).toMatchObject({ id, durable: true });
      await until(
        () => model.bodies.slice(begun).filter((body) => newIn(body).includes("durable work")).length >= 2,
        "the durable one goes on",
      );
      await leads(project, claude);
      const fresh = model.bodies.slice(begun + 1);
      expect(JSON.stringify(fresh.map(({ messages }) => messages))).not.toContain("passing work");

      await runLoop(["delete", id], { cwd: project });
      await tellLoop(claude, "/loopwright --session --no-now 1h more passing work", /Created/);
      expect(await onlyTask(project)).toMatchObject({ durable: false });
      expect(await claude.exit()).toBe(0);
      await until(async () => (await listOf(project)).tasks.length === 0, "it ended with the conversation");
      expect((await listOf(project)).owner).toBeNull();
    },
    TEST_MS,
  );

  test(
    "A9 A11 D6 B16 a passive conversation that is given a task of its own, or a goal, gets the lease for it",
    async () => {
      const { project, model, open } = await makePluginWorld(say("fine"));
      const other = await openModel(say("fine too"));
      const one = await open();
      await tellLoop(one, "/loopwright --no-now 1h say hi", /Created/);
      await leads(project, one);
      const two = await open({ model: other });
      await tellLoop(two, "/loopwright --session --exact --no-jitter 2s only here", /Created/);
      const toldAt = Date.now();
      const [initial] = await hearsOften(other, /only here/, 2);
      expect(askedAt(initial ?? expect.unreachable()) - toldAt).toBeLessThan(HANDED_OVER_MS);
      expect(model.bodies).toEqual([]);

      // and back: the first one is passive now
      writeFileSync(join(project, "n"), "1\n");
      model.script(say("I have done nothing."), say("Nor now."));
      const typedAt = Date.now();
      await one.type('/loopwright until --check "n=test $(cat n) = 2" --yes --force "make n two"');
      const turn = await model.hears(/Nonce of this turn: \w+/);
      expect(askedAt(turn) - typedAt).toBeLessThan(HANDED_OVER_MS);
      expect(newIn(turn)).toContain("make n two");
      expect(heard(other, /make n two/)).toEqual([]);
      await leads(project, one);
    },
    TEST_MS,
  );

  test(
    "A4 E3 a task says where it runs: beside the conversation, only in one, or where none is open from `loop up`",
    async () => {
      const { project, model, open } = await makePluginWorld(say("fine"));
      const env = { LOOP_AGENT_CMD: `cat >> "${"$LOOP_LOG"}"` };
      const add = (where: string) => create(project, ...EVERY_2S, "--in", where, `${where} work`);
      const ids = [await add("session"), await add("headless"), await add("either")].map(({ id }) => id);
      const log = join(project, "..", "log");
      const runs = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
      const up = startLoop(["up"], { cwd: project, env: { ...env, LOOP_LOG: log } });
      await until(() => /headless work/.test(runs()) && /either work/.test(runs()), "both ran headless");
      expect(runs()).not.toContain("session work");

      const claude = await open({ env: { ...env, LOOP_LOG: log } });
      await model.hears(/session work/);
      up.signal("SIGTERM");
      await up.ended;
      await leads(project, claude);
      const before = runs().split("headless work").length;
      await until(() => runs().split("headless work").length > before, "it runs beside the conversation");
      await model.hears(/either work/);
      expect(heard(model, /headless work/)).toEqual([]);
      for (const id of ids) await runLoop(["delete", id], { cwd: project });
    },
    TEST_MS,
  );
});

/** A little file and a look of the other process; the rest is the client's own time. */
const HANDED_OVER_MS = 8_000;
const EVERY_2S = ["--exact", "--no-jitter", "--no-now", "2s"];

/** As people set it; drawn anew every second. */
const STATUS_LINE = { type: "command", command: "loop statusline", refreshInterval: 1 };
