/** What Loopwright adds to an agent that takes no time, and what a line in the journal adds to its fsync. */
import { spawn } from "node:child_process";
import { closeSync, fsyncSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { measure } from "mitata";
import { createCommandAgent } from "../src/agents/process/command.ts";
import { createEngine, newLoopId, thisRunner } from "../src/compose/engine.ts";
import { applyEvent } from "../src/engine/apply.ts";
import { addTask, requestEvent } from "../src/engine/tasks/tasks.ts";
import { draftOf, farAway, openStore, tempProject } from "./project.ts";
import { isQuick, median, report } from "./report.ts";

const FIRES = isQuick ? 30 : 100;

await fire();
await append();

async function fire(): Promise<void> {
  const { root, dir } = tempProject();
  const store = openStore(dir);
  let over: () => void = () => {};
  const engine = createEngine({
    store,
    project: root,
    agent: createCommandAgent({ command: "true", projectDir: root }),
    notifier: { notify: () => {} },
    self: thisRunner(),
    firing: true,
    observe: (news) => {
      if (news.type === "problem") throw new Error(news.message);
      if (news.type !== "outcomes") return;
      if (news.outcomes[0]?.outcome !== "ok") throw new Error(`not ok: ${news.outcomes[0]?.reason}`);
      over();
    },
  });
  const task = await addTask(store, draftOf(0, farAway(0, Date.now())), 1, Date.now(), newLoopId);
  engine.start();
  const ours: number[] = [];
  const plain: number[] = [];
  for (let n = -3; n < FIRES; n++) {
    await requestEvent(store, task, { type: "task.run-requested" }, Date.now());
    const ended = new Promise<void>((resolve) => {
      over = resolve;
    });
    let startedAt = performance.now();
    engine.nudge();
    await ended;
    if (n >= 0) ours.push(performance.now() - startedAt);
    startedAt = performance.now();
    await spawned();
    if (n >= 0) plain.push(performance.now() - startedAt);
  }
  await engine.stop("the bench is over");
  const [mine, peer] = [median(ours), median(plain)];
  report({
    name: "one fire, agent `true`",
    figure: `${mine.toFixed(1)} ms, ${(mine - peer).toFixed(1)} ms of it ours`,
    ratio: mine / peer,
    peer: `sh -c true from node: ${peer.toFixed(1)} ms`,
  });
}

function spawned(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", "true"], { stdio: "ignore" });
    child.once("error", reject);
    child.once("exit", () => resolve());
  });
}

/** A commit on the real store beside the same number of bytes in a plain file. */
async function append(): Promise<void> {
  const { dir } = tempProject();
  const store = openStore(dir);
  const { id } = await addTask(store, draftOf(0, farAway(0, Date.now())), 1, Date.now(), newLoopId);
  let prompt = 0;
  const commit = async () => {
    prompt = 1 - prompt;
    const event = { type: "task.edited", edit: { prompt: `look at service ${prompt}` } } as const;
    const applied = await applyEvent(store, id, event, Date.now(), null);
    if (applied.kind !== "committed") throw new Error(applied.kind);
  };
  const before = statSync(join(dir, "journal.jsonl")).size;
  await commit();
  const line = Buffer.alloc(statSync(join(dir, "journal.jsonl")).size - before, "x");
  const fd = openSync(join(dir, "bare"), "a");
  const bare = () => {
    writeSync(fd, line);
    fsyncSync(fd);
  };
  const ours: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round < (isQuick ? 5 : 11); round++) {
    const options = { min_samples: 50, min_cpu_time: 20e6 };
    ours.push((await measure(commit, options)).p50);
    plain.push((await measure(bare, options)).p50);
  }
  closeSync(fd);
  const [mine, peer] = [median(ours), median(plain)];
  report({
    name: `append of ${line.length} bytes`,
    figure: `${(mine / 1000).toFixed(0)} µs`,
    ratio: mine / peer,
    peer: `write + fsync: ${(peer / 1000).toFixed(0)} µs`,
  });
}
