/**
 * What a turn of a goal loop costs beyond the agent and the check: the same agent and check in a plain shell loop,
 * in the same repository. The agent changes a file each turn, so that files are hashed and a checkpoint is made.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCommandAgent } from "../src/agents/process/command.ts";
import { readSpec } from "../src/cli/goals/goal-spec.ts";
import { createEngine, newLoopId, thisRunner } from "../src/compose/engine.ts";
import { addGoal } from "../src/engine/goals/goals.ts";
import { defaultConfig } from "../src/schema/config.ts";
import { FolderStore } from "../src/store/folder/folder-store.ts";
import { tempProject } from "./project.ts";
import { isQuick, report } from "./report.ts";

const AGENT = "cat >/dev/null; echo x >>log; echo working";
const CHECK = "wc -l <log";
const TURNS = isQuick ? 15 : 45;
const BATCHES = isQuick ? 3 : 8;
const LIMIT_MS = 5;

const { root, dir } = tempProject();
for (let n = 0; n < 30; n++) writeFileSync(join(root, `file-${n}.txt`), `${n}\n`);
writeFileSync(join(root, "log"), "");
writeFileSync(join(root, ".gitignore"), ".loop\nprompt.txt\nanswer.txt\n");
const git = (...args: string[]) => execFileSync("git", args, { cwd: root, stdio: "ignore" });
git("init", "-q");
git("add", "-A");
git("-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "start");

const before = shellTurns();
const engine = await engineTurns();
const after = shellTurns();
const shell = median([...before, ...after]);
const overhead = median(engine) - shell;
report({
  name: "a turn of a goal loop",
  figure: `${median(engine).toFixed(1)} ms, ${overhead.toFixed(1)} ms of them the engine's`,
  ratio: overhead / LIMIT_MS,
  peer: `limit ${LIMIT_MS} ms beyond a shell loop (${shell.toFixed(1)} ms)`,
  limit: 1,
});

/** Milliseconds per turn, one figure per batch. */
function shellTurns(): number[] {
  writeFileSync(join(root, "prompt.txt"), "go on\n".repeat(50));
  const turns = 20;
  const script = `i=0; while [ $i -lt ${turns} ]; do i=$((i+1)); sh -c '${AGENT}' <prompt.txt >answer.txt; sh -c '${CHECK}' >>answer.txt; done`;
  return Array.from({ length: BATCHES }, () => {
    const startedAt = performance.now();
    spawnSync("sh", ["-c", script], { cwd: root });
    return (performance.now() - startedAt) / turns;
  });
}

async function engineTurns(): Promise<number[]> {
  const flags = {
    ...{
      check: [`lines=${CHECK} >= 100000`],
      agentCmd: AGENT,
      iterations: String(TURNS),
      yes: true,
      force: true,
    },
  };
  const { draft } = readSpec(["refactor the log in file log"], flags, { root, dir }, defaultConfig(), {});
  const store = new FolderStore(dir, { now: Date.now, say: () => {} });
  const { id } = await addGoal(store, draft, Date.now(), newLoopId);
  const starts: number[] = [];
  let job: string | null = null;
  const engine = createEngine({
    ...{ store, project: root, self: thisRunner(), firing: true },
    agent: createCommandAgent({ command: "true", projectDir: root }),
    notifier: { notify: () => {} },
    observe: () => {
      const goal = store.load(id);
      if (goal?.kind !== "goal") return;
      if (goal.job?.kind === "work" && goal.job.id !== job) {
        job = goal.job.id;
        starts.push(performance.now());
      }
      if (goal.status !== "active" && goal.notice === null) void engine.stop("enough");
    },
  });
  engine.start();
  await engine.done;
  return starts.slice(1).map((at, index) => at - (starts[index] ?? at));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
