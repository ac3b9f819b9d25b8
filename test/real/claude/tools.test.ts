/** The tools that the agent itself has in the real Claude Code. Nobody is asked whether it may use them. */
import { describe, expect, test } from "vitest";
import { isClaudeMissing, whyMissing } from "../../support/claude/claude-client.ts";
import { runClaude } from "../../support/claude/claude-headless.ts";
import { firesOf, makePluginWorld, newIn, onlyTask, tellLoop } from "../../support/claude/plugin-world.ts";
import type { Asked, Reply, Script, ScriptedModel } from "../../support/claude/scripted-model.ts";
import { historyOf, listOf } from "../../support/cli.ts";
import { say } from "../../support/goals/goal-replies.ts";
import { hasTmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

/** The client takes a second a turn, and several where the machine is busy. */
const TEST_MS = 120_000;
const OURS = "mcp__plugin_loopwright_loop__";

const call = (name: string, input: object): Reply => ({ kind: "tool", name: `${OURS}${name}`, input });

/** What a call brought back last. */
const lastResult = ({ messages }: Pick<Asked, "messages">) =>
  messages.flatMap(({ results }) => results).at(-1) ?? "";

/** The client loads most tools only when the model has looked for them. */
const SEARCH: Reply = {
  kind: "tool",
  name: "ToolSearch",
  input: {
    query: `select:${["CronCreate", "CronDelete", "CronList", "loop_status"].map((name) => `${OURS}${name}`)}`,
  },
};

const ALL_SIX: readonly [Script, ...Script[]] = [
  SEARCH,
  call("CronCreate", { cron: "0 9 * * 1-5", prompt: "stays" }),
  call("CronCreate", { cron: "0 9 * * *", prompt: "goes", durable: false }),
  call("CronList", {}),
  (asked) => call("CronDelete", { id: idOf(asked, "stays") }),
  call("CronCreate", { cron: "61 * * * *", prompt: "never" }),
  call("CronCreate", { cron: "30 4 * * *", prompt: "once", recurring: false }),
  call("loop_status", {}),
  call("Wakeup", { delaySeconds: 60, reason: "no such turn" }),
  call("loop_report", { nonce: "made-up", exit_signal: true }),
  say("done"),
];

/** Of a list; empty when that is none, so that the result of the next call tells. */
function idOf(asked: Asked, prompt: string): string {
  const found = new RegExp(`"id":"([0-9a-f]{8})"(?:(?!"id":).)*"prompt":"${prompt}"`).exec(lastResult(asked));
  return found?.[1] ?? "";
}

/** The results of `ALL_SIX`, in their order. */
function expectAllSix({ bodies }: ScriptedModel): void {
  expect(bodies).toHaveLength(ALL_SIX.length);
  const [, , stays, goes, list, gone, wrong, once, status, wakeup, report] = bodies.map(lastResult);
  expect(JSON.parse(stays ?? "")).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}$/),
    humanSchedule: "Weekdays at 9:00 AM",
    recurring: true,
    durable: true,
    nextFireAt: expect.stringMatching(/^\d{4}-/),
  });
  expect(JSON.parse(goes ?? "")).toMatchObject({ durable: false });
  expect(JSON.parse(list ?? "")).toMatchObject({ tasks: [{ prompt: "stays" }, { prompt: "goes" }] });
  expect(JSON.parse(gone ?? "")).toEqual({ id: JSON.parse(stays ?? "").id });
  expect(wrong).toMatch(/minute/);
  expect(JSON.parse(once ?? "")).toMatchObject({ recurring: false, durable: true });
  expect(status).toContain("There is no goal loop here");
  expect(wakeup).toBe("No turn of a self-paced loop is running.");
  expect(report).toContain("with this nonce, so the report does not count");
}

describe.skipIf(isClaudeMissing)(`the agent's tools in the real Claude Code${whyMissing}`, () => {
  test(
    "A15 A17 B10 A9 E1 without a terminal: all six, with no permission asked for; --session ends with it",
    async () => {
      const { project, model, client } = await makePluginWorld(...ALL_SIX);
      const run = await runClaude(project, ["use your tools"], client);
      expect(run).toMatchObject({
        exitCode: 0,
        stderr: "",
        result: { result: "done", permission_denials: [] },
      });
      expectAllSix(model);
      const [first] = model.bodies;
      expect(first?.tools).toEqual(expect.arrayContaining([`${OURS}Wakeup`, `${OURS}loop_report`]));
      // the one for hooks is not to be had, and not to be heard of
      expect(JSON.stringify(first?.json)).not.toContain(`${OURS}hook`);
      expect(await listOf(project)).toMatchObject({
        owner: null,
        tasks: [{ prompt: "once", state: "active" }],
      });
    },
    TEST_MS,
  );
});

const whyNot = hasTmux ? whyMissing : `${whyMissing} (no tmux)`;
describe.skipIf(isClaudeMissing || !hasTmux)(`the agent's tools in a terminal${whyNot}`, () => {
  test(
    "A15 A17 B10 E1 all six, with no question to the person",
    async () => {
      const { model, open } = await makePluginWorld(...ALL_SIX);
      const claude = await open();
      await claude.type("use your tools");
      await model.asks(ALL_SIX.length);
      expectAllSix(model);
      expect(await claude.sees(/● done/)).not.toContain("Do you want to");
    },
    TEST_MS,
  );

  test(
    "A17 E1 a self-paced loop: the agent says when it wants to be woken, and when it is over",
    async () => {
      const { project, model, open } = await makePluginWorld((asked) => {
        if (lastResult(asked).includes("wakeup")) return say("see you");
        return newIn(asked).includes("run by hand")
          ? call("Wakeup", { stop: true, reason: "it is green" })
          : call("Wakeup", { delaySeconds: 600, reason: "it builds" });
      });
      const claude = await open();
      await tellLoop(claude, "/loopwright auto watch the build", /Created .*Self-paced/);
      await until(
        () => lastResult(model.bodies.at(-1) ?? { messages: [] }) === '{"wakeup":"sleep"}',
        "it sleeps",
      );
      const { id } = await onlyTask(project);
      const [first] = await firesOf(project, id, 1);
      const { nextFireAt } = await onlyTask(project);
      const sleepMs = Date.parse(nextFireAt ?? "") - Date.parse(first?.finishedAt ?? "");
      expect(Math.abs(sleepMs - 600_000)).toBeLessThan(5_000);

      model.script((asked) =>
        newIn(asked).includes("run by hand") && !lastResult(asked).includes("stop")
          ? call("Wakeup", { stop: true, reason: "it is green" })
          : say("bye"),
      );
      await tellLoop(claude, `/loopwright run ${id}`, /./);
      await until(async () => (await listOf(project)).tasks.length === 0, "the loop has ended");
      expect((await historyOf(project, id)).map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
        "initial ok",
        "manual ok",
      ]);
    },
    TEST_MS,
  );
});
