/**
 * What a story of a backlog costs beyond its agents and its check: generator, check and evaluator in a plain shell
 * loop that commits each story, in the same repository. Per story the engine fingerprints all files, measures the
 * diff against what the story began with, runs the checks of all that has passed, and puts prd.json right.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine, createReconciler, newLoopId, thisRunner } from "../src/compose/engine.ts";
import type { BacklogTerms } from "../src/core/backlog/backlog.ts";
import { addBacklog } from "../src/engine/backlogs/backlogs.ts";
import { parsePrdText } from "../src/schema/prd.ts";
import { openStore, tempProject } from "./project.ts";
import { isQuick, median, report } from "./report.ts";

const GENERATE = `cat >/dev/null; echo x >>log; git commit -qam "$LOOP_STORY"; echo done`;
const JUDGE = `cat >/dev/null; printf '<verdict nonce="%s">PASS</verdict>\\n' "$LOOP_NONCE"`;
const AGENT = `if [ "$LOOP_ROLE" = generator ]; then ${GENERATE}; else ${JUDGE}; fi`;
/** The project's, so that it is run once per story: each story's own would be run for all that come after it. */
const CHECK = "test -s log";
const STORIES = isQuick ? 12 : 30;
const BATCHES = isQuick ? 3 : 8;
/** What ralph-tui's engine adds to an iteration, without any check, judge, diff or journal. */
const RALPH_TUI_MS = 10;
/** Nearly all of it are processes of git: each look at the files is some of them. */
const LIMIT = 30;

const TERMS: BacklogTerms = {
  ...{ mode: "implement", maxIterations: STORIES, branchPrefix: "loop/", target: "main", evalRetries: 2 },
  ...{
    skipEval: false,
    parallel: 1,
    only: null,
    budgetUsd: 25,
    turnTimeoutMs: 60_000,
    checkTimeoutMs: 60_000,
  },
  scope: { maxFilesToRead: 40, maxLinesToWrite: 800, maxFilesToModify: 20 },
  generator: { kind: "command", command: AGENT },
  evaluator: { kind: "command", command: AGENT },
  models: { generator: null, evaluator: null, depths: { quick: null, standard: null, thorough: null } },
  checks: [{ name: "log", check: { kind: "command", command: CHECK }, source: "config" }],
};

const { root, dir } = tempProject();
for (let n = 0; n < 30; n++) writeFileSync(join(root, `file-${n}.txt`), `${n}\n`);
writeFileSync(join(root, "log"), "");
writeFileSync(join(root, ".gitignore"), ".loop\nprompt.txt\nanswer.txt\n");
const git = (...args: string[]) => execFileSync("git", args, { cwd: root, stdio: "ignore" });
git("init", "-q", "-b", "main");
git("config", "user.name", "bench");
git("config", "user.email", "bench@localhost");
git("add", "-A");
git("commit", "-qm", "start");

const before = shellStories();
const engine = await engineStories();
const after = shellStories();
const shell = median([...before, ...after]);
const overhead = median(engine) - shell;
report({
  name: "a story of a backlog",
  figure: `${median(engine).toFixed(1)} ms, ${overhead.toFixed(1)} ms of them the engine's`,
  ratio: median(engine) / shell,
  peer: `the same commands in a shell loop (${shell.toFixed(1)} ms)`,
  limit: LIMIT,
});
report({
  name: "  the engine's part of it",
  figure: `${overhead.toFixed(1)} ms`,
  ratio: overhead / RALPH_TUI_MS,
  peer: `ralph-tui's engine, about ${RALPH_TUI_MS} ms, proves nothing`,
});

/** Milliseconds per story, one figure per batch: the same commands, the same commits. */
function shellStories(): number[] {
  writeFileSync(join(root, "prompt.txt"), "go on\n".repeat(50));
  const stories = 10;
  const turn = (role: string) =>
    `LOOP_ROLE=${role} LOOP_STORY=US-$i LOOP_NONCE=n sh -c "$AGENT" <prompt.txt >answer.txt`;
  const once = `${turn("generator")}; sh -c '${CHECK}'; ${turn("evaluator")}; grep -q PASS answer.txt`;
  const script = `i=0; while [ $i -lt ${stories} ]; do i=$((i+1)); ${once}; done`;
  return Array.from({ length: BATCHES }, () => {
    const startedAt = performance.now();
    spawnSync("sh", ["-c", script], { cwd: root, env: { ...process.env, AGENT } });
    return (performance.now() - startedAt) / stories;
  });
}

async function engineStories(): Promise<number[]> {
  const userStories = Array.from({ length: STORIES }, (_, n) => ({
    ...{ id: `US-${String(n + 1).padStart(3, "0")}`, title: `Line ${n}`, description: "", priority: n },
    ...{ acceptanceCriteria: ["a line more"], checks: [], dependsOn: [], passes: false },
  }));
  const text = JSON.stringify({ project: "bench", branchName: "main", description: "", userStories });
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "prd.json"), text);
  const parsed = parsePrdText(text);
  if (parsed.kind !== "ok") throw new Error("the stories of the figure are wrong");
  const store = openStore(dir);
  const { id } = await addBacklog(store, TERMS, parsed.prd.stories, null, Date.now(), newLoopId);
  const ends: number[] = [performance.now()];
  const running = createEngine({
    ...{ store, project: root, self: thisRunner(), firing: true, backlogs: true },
    agent: createReconciler(root),
    notifier: { notify: () => {} },
    observe: (news) => {
      const backlog = store.load(id);
      if (backlog?.kind !== "backlog") return;
      if (news.type === "backlog" && news.backlog.receipts.length > news.before.receipts.length)
        ends.push(performance.now());
      if (backlog.status !== "active" && backlog.notice === null) void running.stop("enough");
    },
  });
  running.start();
  await running.done;
  const end = store.load(id);
  if (end?.kind !== "backlog" || end.end?.outcome !== "done")
    throw new Error(
      `the run did not come to its end: ${JSON.stringify(end?.kind === "backlog" ? (end.end ?? end.pause) : null)}`,
    );
  // the first one meets cold files
  return ends.slice(2).map((at, index) => at - (ends[index + 1] ?? at));
}
