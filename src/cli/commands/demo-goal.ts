/**
 * `loop demo`: a small repository with failing tests, repaired by a scripted agent that is not honest all the time.
 * Everything else is real: git, the files, `npm test`, the engine, its checks, its journal.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createScriptedAgent, type ScriptedTurn } from "../../agents/scripted.ts";
import { createEngine, newLoopId, thisRunner } from "../../compose.ts";
import { changesOf } from "../../core/goal/changes.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { viewEnd } from "../../core/goal/view.ts";
import { addGoal } from "../../engine/goals.ts";
import type { Turn } from "../../ports.ts";
import { defaultConfig } from "../../schema/config.ts";
import { FolderStore } from "../../store/folder-store.ts";
import { ensureLoopDir } from "../../store/loop-dir.ts";
import { systemClock } from "../../system/clock.ts";
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import { readSpec } from "../goal-spec.ts";
import { type Io, paint } from "../io.ts";
import { renderAgentEvent, renderGoalChange } from "../live/goal-lines.ts";
import { describeGoalChange } from "../live/goal-view.ts";

const WORDS = ["npm test passes", "fix the two bugs in src/prices.js. No new dependencies."];
const FLAGS = { yes: true, agentCmd: "the scripted agent of the demo" } as const;

const BROKEN = `export function total(prices) {
  return prices.slice(1).reduce((sum, price) => sum + price, 0);
}

export function withDiscount(amount, percent) {
  return amount - percent;
}
`;
const HALF = BROKEN.replace("prices.slice(1)", "prices");
const WHOLE = HALF.replace("amount - percent", "amount * (1 - percent / 100)");
// `from` apart: who reads the imports of this file must not take those of the demo for its own
const FROM = "from";
const TESTS = `import assert ${FROM} "node:assert/strict";
import test ${FROM} "node:test";
import { total, withDiscount } ${FROM} "../src/prices.js";

test("the total counts every price", () => assert.equal(total([1, 2, 3]), 6));
test("a discount is a share of the amount", () => assert.equal(withDiscount(200, 10), 180));
`;
const BENT = TESTS.replace("180", "190");
const FILES = {
  "package.json": `${JSON.stringify({ name: "demo", private: true, type: "module", scripts: { test: "node --test" } }, null, 2)}\n`,
  "src/prices.js": BROKEN,
  "test/prices.test.js": TESTS,
} as const;

export async function demoGoal(flags: { json?: boolean }, io: Io): Promise<number> {
  const project = mkdtempSync(join(tmpdir(), "loopwright demo "));
  const say = (line: string) => {
    if (!flags.json) io.out(line);
  };
  try {
    writeProject(project);
    say(
      `${paint(io, "bold", "Loopwright demo")}: a real repository, real tests and checks; only the agent is scripted, and it lies twice.`,
    );
    say("");
    say(`$ loop until "${WORDS[0]}" --yes ${WORDS[1]}`);
    const goal = await run(project, flags, io);
    if (flags.json) io.json(viewEnd(goal));
    else summarise(goal, say, io);
    return goal.end?.status === "done" ? EXIT.ok : exitCodeOf(goal) || EXIT.failure;
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

async function run(project: string, flags: { json?: boolean }, io: Io): Promise<Goal> {
  const dir = ensureLoopDir(project);
  const store = new FolderStore(dir, { now: Date.now, say: io.say });
  const config = defaultConfig();
  const { draft } = readSpec(WORDS, FLAGS, { root: project, dir }, config, {});
  const { id } = await addGoal(store, draft, Date.now(), newLoopId);
  let shown: Goal | null = null;
  const engine = createEngine({
    ...{ store, project, self: thisRunner(), firing: true, goalFiles: store.goalFiles },
    agent: createScriptedAgent({ name: "demo", turns: () => ({ says: "", takesMs: 0 }) }, systemClock),
    goalAgent: createScriptedAgent({ name: "demo", turns: (turn, n) => play(project, turn, n) }, systemClock),
    notifier: { notify: () => {} },
    observe: (news) => {
      if (news.type === "problem") io.say(news.message);
      if (news.type === "agent") showAgent(news.event);
      const goal = store.load(id);
      if (goal?.kind !== "goal") return;
      showGoal(shown, goal);
      shown = goal;
      if (goal.status !== "active" && goal.notice === null) void engine.stop("the demo is over");
    },
  });

  function showGoal(before: Goal | null, goal: Goal): void {
    for (const change of changesOf(before, goal)) {
      if (flags.json) {
        const [type, fields] = describeGoalChange(change, goal);
        io.json({ type, ...fields });
      } else for (const line of renderGoalChange(change, goal, Date.now(), io)) io.out(line);
    }
  }

  function showAgent(event: Parameters<typeof renderAgentEvent>[0]): void {
    const line = event.type === "text" ? paint(io, "dim", `  “${event.text}”`) : renderAgentEvent(event, io);
    if (line !== null && !flags.json) io.out(line);
  }

  engine.start();
  await engine.done;
  const goal = store.load(id);
  if (goal?.kind !== "goal") throw new Error("the demo lost its goal");
  return goal;
}

/** What the scripted agent says and does, turn by turn. */
function play(project: string, turn: Turn, n: number): ScriptedTurn {
  const write = (path: string, text: string) => () => writeFileSync(join(project, path), text);
  const nonce = turn.env.LOOP_NONCE ?? "";
  const spent = (costUsd: number) => ({ costUsd, inputTokens: 4_000 * n, outputTokens: 350 });
  const edits = (path: string) => [
    { type: "tool", name: "Edit", detail: path } as const,
    { type: "file", path } as const,
  ];
  const said = (text: string) => ({ type: "text", text }) as const;
  const open = "One bug is fixed: the first price was left out. The discount is next.";
  const lie = "Everything is fixed and all tests pass. Done!";
  const bent = "The last test expected the wrong number. It is green now, so the work is done.";
  const done = "The test is back as it was, and the discount is a share of the amount now.";
  const turns: readonly ScriptedTurn[] = [
    {
      says: report(open, nonce, false),
      does: write("src/prices.js", HALF),
      usage: spent(0.03),
      takesMs: 700,
      events: [...edits("src/prices.js"), said(open)],
    },
    { says: report(lie, nonce, true), usage: spent(0.02), takesMs: 500, events: [said(lie)] },
    {
      says: report(bent, nonce, true),
      does: write("test/prices.test.js", BENT),
      usage: spent(0.03),
      takesMs: 700,
      events: [...edits("test/prices.test.js"), said(bent)],
    },
    {
      says: report(done, nonce, true),
      does: () => {
        write("test/prices.test.js", TESTS)();
        write("src/prices.js", WHOLE)();
      },
      ...{
        usage: spent(0.04),
        takesMs: 700,
        events: [...edits("test/prices.test.js"), ...edits("src/prices.js"), said(done)],
      },
    },
  ];
  return turns[n - 1] ?? { says: report(done, nonce, true), takesMs: 0 };
}

function report(text: string, nonce: string, exit: boolean): string {
  return [
    text,
    "",
    "---LOOP_STATUS---",
    `NONCE: ${nonce}`,
    `EXIT_SIGNAL: ${exit}`,
    `CRITERIA: {"npm test passes": ${exit}}`,
    `STEP: ${exit ? "done" : "open"}`,
    `NEXT: ${exit ? "none" : "the discount"}`,
    "---END_STATUS---",
  ].join("\n");
}

function writeProject(project: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project, stdio: "ignore" });
  try {
    git("init", "-q");
    git("add", "-A");
    git(
      "-c",
      "user.name=demo",
      "-c",
      "user.email=demo@localhost",
      "-c",
      "commit.gpgsign=false",
      "commit",
      "-qm",
      "start",
    );
  } catch {
    // without git the loop runs all the same, and says what is lost
  }
}

function summarise(goal: Goal, say: (line: string) => void, io: Io): void {
  const refused = goal.receipts.slice(0, -1).filter(({ claimedExit }) => claimedExit).length;
  say("");
  say(paint(io, "bold", "What happened"));
  say(
    `  The agent claimed to be done ${refused + 1} times. ${refused} times the engine's own run of the tests, or the changed`,
  );
  say("  test itself, said otherwise, and it was sent back with the evidence. The last claim was proved.");
  say(
    '  Next: loop until "npm test passes" <what to do> in your own project; loop demo tasks shows schedules.',
  );
}
