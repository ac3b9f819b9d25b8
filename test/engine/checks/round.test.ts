/** One round of checks, for whatever loop: its order, when it runs again, and what stops it. */
import { expect, test } from "vitest";
import type { Check, Criterion } from "../../../src/core/checks/check.ts";
import { evidenceOfLook } from "../../../src/core/checks/evidence.ts";
import type { CommandOutput } from "../../../src/core/checks/kind.ts";
import { type CheckPlace, type Round, runRound } from "../../../src/engine/checks/round.ts";

const GREEN: CommandOutput = { exitCode: 0, timedOut: false, tail: "ok" };
const RED: CommandOutput = { exitCode: 1, timedOut: false, tail: "not ok" };

function runs(name: string): Criterion {
  return { name, check: { kind: "command", command: name }, source: "flag" };
}

function asks(name: string, kind: "judge" | "review"): Criterion {
  const check: Check = { kind, question: `Is ${name} right?` };
  return { name, check, source: "flag" };
}

/** What happened, in order, and a round over these criteria. Commands are green unless `outputs` says otherwise. */
function world(criteria: readonly Criterion[], outputs: Readonly<Record<string, CommandOutput>> = {}) {
  const log: string[] = [];
  const abort = new AbortController();
  let now = 0;
  let onRun = (_command: string) => {};
  const round: Round = {
    criteria,
    mustNot: [],
    checker: {
      async run(command, timeoutMs, _signal, mark) {
        log.push(`run ${command} (${mark}, ${timeoutMs} ms)`);
        onRun(command);
        return outputs[command] ?? GREEN;
      },
      sweep: async () => {},
    },
    timeoutMs: 500,
    mark: "job-1",
    signal: abort.signal,
    clock: { now: () => now++, wake: () => ({ cancel: () => {} }) },
    judges: {
      async ask(asked, tree, pass) {
        log.push(`ask ${asked.map(({ criterion }) => criterion.name).join(" ")} (${tree}, pass ${pass})`);
        const yes = evidenceOfLook(
          "observation",
          { isYes: true, text: "yes", note: null },
          { tree, startedAt: 0, endedAt: 1 },
        );
        const evidence = Object.fromEntries(asked.map(({ criterion }) => [criterion.name, yes]));
        return {
          evidence,
          usage: { costUsd: 0.5, inputTokens: 1, outputTokens: 1 },
          failure: null,
        };
      },
    },
  };
  /** The trees that later looks find. */
  const place = (...trees: readonly string[]): CheckPlace => {
    let [last = "t0", ...rest] = trees;
    return {
      tree: last,
      async look() {
        const before = last;
        [last = before, ...rest] = rest;
        log.push(`look ${last}`);
        return { tree: last, changed: last === before ? [] : [`${before} to ${last}`] };
      },
    };
  };
  return { log, abort, round, place, onRun: (then: typeof onRun) => (onRun = then) };
}

test("must-nots come first, then commands in their order, then judges, then a look at the files", async () => {
  const { log, round, place } = world([
    asks("ui", "judge"),
    runs("tests"),
    asks("code", "review"),
    runs("lint"),
  ]);
  const mustNot = [
    { name: "said only", command: null, source: "flag" as const },
    { name: "leaks", command: "grep key", source: "flag" as const },
  ];
  const found = await runRound({ ...round, mustNot }, place("t0"));
  expect(log).toEqual([
    "run grep key (job-1, 500 ms)",
    "run tests (job-1, 500 ms)",
    "run lint (job-1, 500 ms)",
  ]);
  expect(found.mustNot).toEqual([{ name: "leaks", tail: "ok" }]);
  expect(Object.keys(found.evidence)).toEqual(["tests", "lint"]);

  log.length = 0;
  const clean = await runRound(round, place("t0"));
  expect(log).toEqual([
    "run tests (job-1, 500 ms)",
    "run lint (job-1, 500 ms)",
    "ask ui code (t0, pass 0)",
    "look t0",
  ]);
  expect(clean).toMatchObject({ tree: "t0", unstable: [], usage: { costUsd: 0.5 } });
  expect(Object.keys(clean.evidence)).toEqual(["tests", "lint", "ui", "code"]);
});

test("no judge is paid for, and nothing is looked at again, while a command is red", async () => {
  const { log, round, place } = world([asks("ui", "judge"), runs("tests"), runs("lint")], { tests: RED });
  const found = await runRound(round, place("t0", "t1"));
  expect(log).toEqual(["run tests (job-1, 500 ms)", "run lint (job-1, 500 ms)"]);
  expect(found).toMatchObject({ tree: "t0", unstable: [], usage: null });
  expect(found.evidence).toMatchObject({ tests: { met: false, tail: "not ok" }, lint: { met: true } });
  expect(found.evidence).not.toHaveProperty("ui");
});

test("checks that wrote files run once more, and the evidence is of the tree with those files in it", async () => {
  const { log, round, place } = world([runs("build"), asks("ui", "judge")]);
  const found = await runRound(round, place("t0", "t1", "t1"));
  expect(log).toEqual([
    "run build (job-1, 500 ms)",
    "ask ui (t0, pass 0)",
    "look t1",
    "run build (job-1, 500 ms)",
    "ask ui (t1, pass 1)",
    "look t1",
  ]);
  expect(found).toMatchObject({ tree: "t1", unstable: [], usage: { costUsd: 1 } });
  expect(found.evidence).toMatchObject({ build: { tree: "t1" }, ui: { tree: "t1" } });
});

test("checks that write something else each time prove nothing, and the files are named", async () => {
  const { round, place } = world([runs("build")]);
  const found = await runRound(round, place("t0", "t1", "t2", "t3"));
  expect(found).toMatchObject({ tree: "t2", unstable: ["t1 to t2"] });
});

test("a check that is red the second time is red, and no file is blamed for it", async () => {
  const outputs: Record<string, CommandOutput> = {};
  const { round, place, onRun, log } = world([runs("build")], outputs);
  onRun(() => {
    if (log.length > 1) outputs.build = RED;
  });
  const found = await runRound(round, place("t0", "t1"));
  expect(found).toMatchObject({ tree: "t1", unstable: [], evidence: { build: { met: false, tree: "t1" } } });
});

test("a round that is stopped starts nothing more", async () => {
  const { log, abort, round, place, onRun } = world([runs("a"), runs("b"), asks("ui", "judge")]);
  onRun(() => abort.abort());
  const found = await runRound(round, place("t0"));
  expect(log).toEqual(["run a (job-1, 500 ms)"]);
  expect(Object.keys(found.evidence)).toEqual(["a"]);
});

test("an assumption is never met, and without judges nothing is said of what only they can tell", async () => {
  const assumed: Criterion = { name: "quota", check: { kind: "assumption" }, source: "flag" };
  const { log, round, place } = world([assumed, asks("ui", "judge")]);
  const found = await runRound({ ...round, judges: null }, place("t0"));
  expect(log).toEqual([]);
  expect(found.evidence).toMatchObject({ quota: { met: false, verification: "assumption" } });
  expect(found.evidence).not.toHaveProperty("ui");
});

test("without criteria there is nothing to prove, so the files are not looked at again", async () => {
  const { log, round, place } = world([]);
  expect(await runRound(round, place("t0", "t1"))).toMatchObject({ tree: "t0", evidence: {}, unstable: [] });
  expect(log).toEqual([]);
});
