/** Several processes on one project: the lease, takeovers, and changes that all of them see. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  create,
  historyOf,
  kill,
  listOf,
  loopJson,
  makeProject,
  type RunningLoop,
  runLoop,
  startLoop,
  type TaskJson,
} from "../../support/cli.ts";
import { until } from "../../support/until.ts";

const UP = ["up", "--agent-cmd", "cat"];

async function twoRunners(cwd: string): Promise<[RunningLoop, RunningLoop]> {
  const first = startLoop(UP, { cwd });
  await first.line(/loop:\d this runner fires/);
  const second = startLoop(UP, { cwd });
  await second.line(
    /loop:1 \(passive\) runner:\d+\.\w+ fires the tasks; this runner takes over when it ends/,
  );
  return [first, second];
}

describe("the lease", () => {
  test("A11 the second is passive and takes over when the first ends", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "--no-now", "x");
    const [first, second] = await twoRunners(cwd);
    first.signal("SIGTERM");
    expect(await first.ended).toBe(0);
    await second.line(/loop:1 this runner fires/, 5_000);
    expect((await listOf(cwd)).owner).toMatchObject({ pid: second.pid, token: 2 });
  });

  test("A11 it takes over at once when the first is killed, and no slot is delivered twice", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "1s", "--exact", "--no-jitter", "--no-now", "tick");
    const [first, second] = await twoRunners(cwd);
    await first.line(/✓ ok/);
    kill(first.pid);
    await first.ended;
    const killedAt = performance.now();
    await second.line(/loop:1 this runner fires/, 5_000);
    expect(performance.now() - killedAt).toBeLessThan(2_000);
    await second.line(/✓ ok/);
    const rows = (await historyOf(cwd)).filter(({ outcome }) => outcome !== "running");
    const slots = rows.map(({ slot }) => Date.parse(slot));
    expect(new Set(slots).size).toBe(slots.length);
    // from the first slot to the last, none is missing
    const created = Date.parse(task.createdAt);
    expect(slots).toEqual(slots.map((_, n) => created + (n + 1) * 1_000));
  });

  test("A4 A11 a creation while another process runs says who runs it", async () => {
    const cwd = makeProject();
    const up = startLoop(UP, { cwd });
    await up.line(/this runner fires/);
    const made = await runLoop(["5m", "x"], { cwd });
    expect(made).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^runner:\d+\.\w+ runs it\.\n$/),
    });
    await up.line(/▶ fire {2}\w+ {2}\(initial\) x/);
    const { id } = (await listOf(cwd)).tasks[0] as TaskJson;
    await up.line(/✓ ok/);
    const run = await runLoop(["run", id], { cwd });
    expect(run.stdout).toMatch(new RegExp(`^runner:\\S+ fires ${id} now`));
    await up.line(/\(manual\) x/);
    expect((await runLoop(["list"], { cwd })).stdout).toContain(`(pid ${up.pid})`);
  });
});

describe("hot sync", () => {
  test("A12 a running process sees create, edit, pause and delete within 500 ms", async () => {
    const cwd = makeProject();
    const agent = "cat; while test -e hang; do sleep 0.1; done";
    const up = startLoop(["up", "--json", "--agent-cmd", agent], { cwd });
    await up.line(/"role":"owner"/);
    /** From the moment that the other command has answered: what it started with is not the runner's doing. */
    const within500 = async (what: string, seen: RegExp, command: () => Promise<unknown>) => {
      const before = up.output.stdout.length;
      await command();
      await until(() => seen.test(up.output.stdout.slice(before)), `${what} was seen`, 500);
    };
    const published = () => readFileSync(join(cwd, ".loop", "tasks.json"), "utf8");
    let id = "";
    await within500("create", /"type":"fire"/, async () => {
      id = (await create(cwd, "1h", "first words")).id;
    });
    await up.line(/"type":"outcome"/);
    await until(() => published().includes('"running": false'), "what came of the fire is published");
    for (const [name, ...words] of [["edit", "other words"], ["pause"], ["resume"]] as const)
      await within500(name, /"type":"tasks"/, () => loopJson([name, id, ...words], { cwd }));
    await within500("run", /"type":"fire"/, () => loopJson(["run", id], { cwd }));
    // the edited words, and not those that it was created with, went to the agent
    await up.line(/"text":"[^"]*other words/);
    writeFileSync(join(cwd, "hang"), "");
    await within500("run", /"type":"fire"/, () => loopJson(["run", id], { cwd }));
    // what a runner does about a deletion: it stops the turn
    await within500("delete", /"type":"tasks"/, () => loopJson(["delete", id], { cwd }));
    await up.line(/"outcome":"interrupted"[^\n]*the task was deleted/);
  });

  test("A12 twenty that create and four that delete at the same time lose nothing", async () => {
    const cwd = makeProject();
    const old = [];
    for (let n = 0; n < 4; n++) old.push((await create(cwd, "1h", `stale ${n}`, "--no-now")).id);
    const apart = (...args: string[]) => runLoop([...args, "--json"], { cwd });
    const creates = Array.from({ length: 20 }, (_, n) => apart("1h", `new ${n}`, "--no-now"));
    const deletes = old.map((id) => apart("delete", id));
    const made = (await Promise.all(creates)).map(({ stdout }) => JSON.parse(stdout) as TaskJson);
    expect((await Promise.all(deletes)).map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const { tasks } = await listOf(cwd);
    expect(tasks.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort());
    expect(tasks.map(({ prompt }) => prompt).sort()).toEqual(
      Array.from({ length: 20 }, (_, n) => `new ${n}`).sort(),
    );
    const published = await until(async () => {
      const text = (await runLoop(["list"], { cwd })).stdout;
      return text.includes("20 tasks") ? text : null;
    }, "the list has twenty");
    expect(published).not.toContain("stale");
  });
});
