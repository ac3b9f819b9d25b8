/** What is shown while a turn runs (F3), with real processes. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CommandAgentOptions, createCommandAgent } from "../../../src/agents/process/command.ts";
import { runFolder } from "../../../src/agents/process/run-folder.ts";
import { tailLines } from "../../../src/agents/process/tail.ts";
import { ABANDONED } from "../../../src/ports/agent.ts";
import {
  fixture,
  makeControl,
  makeProject,
  makeTurn,
  makeWatcher,
  type Project,
  plainEnd,
} from "../../fixtures/agents/project.ts";
import { until } from "../../support/until.ts";

let project: Project;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project.remove());

const agent = (command: string, options: Partial<CommandAgentOptions> = {}) =>
  createCommandAgent({ command, projectDir: project.dir, killGraceMs: 200, ...options });
const inProject = (name: string) => join(project.dir, name);
const texts = (...lines: string[]) => lines.map((text) => ({ type: "text", text }));
/** Prints the steps one by one, each when the file of its number is there. */
const steps = (...commands: string[]) =>
  commands.map((command, index) => `until [ -e go${index} ]; do sleep 0.01; done; ${command}`).join("; ");
const go = (index: number) => writeFileSync(inProject(`go${index}`), "");
const openAnswers = () =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(project.dir);
    } catch {
      return false;
    }
  });

test("each line is shown as it comes, half lines and half characters when they are whole", async () => {
  const answer = join(runFolder(project.dir, makeTurn()), "answer.txt");
  const control = makeWatcher();
  const end = agent(steps("echo one", "printf 'tw\\303'", "printf '\\274\\n'", "printf last")).run(
    makeTurn(),
    control,
  );
  go(0);
  await until(() => control.events.length === 1, "the first line is shown");
  go(1);
  await until(() => statSync(answer).size === 7, "half a character is there");
  go(2);
  await until(() => control.events.length === 2, "the second line is shown");
  expect(existsSync(join(runFolder(project.dir, makeTurn()), "exit.7"))).toBe(false);
  go(3);
  expect(await end).toEqual(plainEnd("one\ntwü\nlast"));
  expect(control.events).toEqual(texts("one", "twü", "last"));
  expect(openAnswers()).toEqual([]);
});

test("a line is shown soon after it was printed", async () => {
  const control = makeWatcher();
  const end = agent(steps("echo one; echo >printed", "true")).run(makeTurn(), control);
  go(0);
  await until(() => existsSync(inProject("printed")), "the line was printed");
  const printed = performance.now();
  await until(() => control.events.length === 1, "the line is shown");
  // 100 between two looks, and what a busy machine adds; at the end of the turn would be never
  expect(performance.now() - printed).toBeLessThan(5_000);
  go(1);
  await end;
});

test("everything is shown by the end, however fast it was", async () => {
  const control = makeWatcher();
  await agent("seq 1 300").run(makeTurn(), control);
  expect(control.events).toHaveLength(300);
  expect(control.events.at(-1)).toEqual({ type: "text", text: "300" });
});

test("of a flood only the beginning is shown at each look, and nothing is lost from the answer", async () => {
  const control = makeWatcher();
  const end = await agent("seq 1 200000").run(makeTurn(), control);
  expect(control.events.length).toBeGreaterThanOrEqual(400);
  expect(control.events.length).toBeLessThan(20_000);
  expect(end).toMatchObject({ answer: expect.stringMatching(/\n200000\n$/) });
});

test("a line of more than 1 MiB is not shown, and not lost from the answer", async () => {
  const control = makeWatcher();
  const end = await agent(`node -e 'console.log("a\\n" + "x".repeat(1_100_000) + "\\nb")'`).run(
    makeTurn(),
    control,
  );
  expect(control.events).toEqual(texts("a", "b"));
  expect(end).toMatchObject({ answer: expect.stringMatching(/x\nb\n$/) });
});

test("a surface that fails does not harm the turn", async () => {
  const onEvent = () => {
    throw new Error("no colours");
  };
  expect(await agent("echo one; echo two").run(makeTurn(), { ...makeControl(), onEvent })).toEqual(
    plainEnd("one\ntwo\n"),
  );
});

test("what an earlier attempt printed is not shown", async () => {
  await agent("echo of the first").run(makeTurn({ token: 7 }), makeControl());
  const control = makeWatcher();
  // its wrapper comes late, so that the old answer is there for a while
  writeFileSync(
    inProject("late-sh"),
    '#!/bin/sh\nuntil [ -e go0 ]; do sleep 0.01; done\nexec /bin/sh "$@"\n',
    {
      mode: 0o755,
    },
  );
  const end = agent("echo of the second", { shell: inProject("late-sh") }).run(
    makeTurn({ token: 8 }),
    control,
  );
  const looks = performance.now() + 250;
  await until(() => performance.now() > looks, "there were looks at the old answer");
  go(0);
  await end;
  expect(control.events).toEqual(texts("of the second"));
});

test("A11 a turn of another runner's is shown from where it is taken over, in whole lines", async () => {
  const turn = makeTurn();
  const answer = join(runFolder(project.dir, turn), "answer.txt");
  const first = makeControl();
  const end = agent(steps("echo before; printf 'half '", "echo line; echo after", "true")).run(turn, first);
  go(0);
  await until(
    () => existsSync(answer) && readFileSync(answer, "utf8").endsWith("half "),
    "half a line is there",
  );
  const second = makeWatcher();
  const fate = await agent("true").reconcile(turn, second);
  if (fate.kind !== "running") throw new Error(fate.kind);
  go(1);
  await until(() => second.events.length === 1, "the next line is shown");
  go(2);
  expect(await fate.end).toEqual(plainEnd("before\nhalf line\nafter\n"));
  await end;
  expect(second.events).toEqual(texts("after"));
  expect(openAnswers()).toEqual([]);
});

test("who let go of a turn is shown no more of it", async () => {
  const control = makeWatcher();
  const end = agent(steps("echo one", "echo two")).run(makeTurn(), control);
  go(0);
  await until(() => control.events.length === 1, "the first line is shown");
  control.abort(ABANDONED);
  expect(await end).toEqual({ kind: "cancelled" });
  expect(openAnswers()).toEqual([]);
  go(1);
  const exit = join(runFolder(project.dir, makeTurn()), "exit.7");
  await until(() => existsSync(exit), "the agent ended by itself");
  expect(control.events).toEqual(texts("one"));
});

test("stopped at its deadline: what it printed until then is shown", async () => {
  const now = () => (existsSync(inProject("ready")) ? 5_000 : 4_990);
  let looks = 0;
  const control = makeWatcher();
  const late = agent(`printf 'so far'; sh '${fixture("hangs.sh")}'`, {
    now: () => (looks++ === 0 ? 0 : now()),
  });
  await late.run(makeTurn({ deadlineAt: 5_000 }), control);
  expect(control.events).toEqual(texts("so far"));
});

test("an answer that is no file any more shows nothing, and does no harm", async () => {
  const folder = ".loop/runs/aabbccdd/aabbccdd-1";
  const control = makeWatcher();
  await agent(`rm ${folder}/answer.txt; mkfifo ${folder}/answer.txt`).run(makeTurn(), control);
  expect(control.events).toEqual([]);
  mkdirSync(inProject("folder"));
  for (const path of [inProject("folder"), inProject("nothing")]) {
    const tail = tailLines(path, null, () => control.events.push({ type: "text", text: path }));
    tail.finish();
    tail.drop();
  }
  expect(control.events).toEqual([]);
});
