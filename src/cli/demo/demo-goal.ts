/**
 * `loop demo`: a scripted agent, which lies twice, repairs a small repository with failing tests. The agent is a real
 * process that speaks the Agent Client Protocol. Git, the files, `npm test`, the engine and its journal are real too.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createAcpAgent } from "../../agents/acp/acp-agent.ts";
import { profileOf } from "../../agents/acp/profiles.ts";
import { CRITERION, DEMO_FILES } from "../../agents/demo/scenes.ts";
import { newLoopId } from "../../compose/engine.ts";
import { END, START } from "../../core/claims/status-block.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { changesOf } from "../../core/views/goal-changes.ts";
import { viewEnd } from "../../core/views/goal-view.ts";
import { addGoal } from "../../engine/goals/goals.ts";
import { commandBeside } from "../../hosts/conversation/typed.ts";
import type { AgentEvent } from "../../ports/agent.ts";
import { defaultConfig } from "../../schema/config.ts";
import { ensureLoopDir } from "../../store/folder/loop-dir.ts";
import { findProgram } from "../../system/find-program.ts";
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import { readSpec } from "../goals/goal-spec.ts";
import { type Io, paint } from "../io.ts";
import { renderAgentEvent, renderGoalChange } from "../live/goal-lines.ts";
import { describeGoalChange } from "../live/json-view.ts";
import { createPlainView } from "../live/view.ts";
import { openProject } from "../project.ts";
import { runForeground } from "../run/foreground.ts";
import { listenForStop, type StopRequest } from "../run/signals.ts";

const WORDS = [CRITERION, "fix the two bugs in src/prices.js. No new dependencies."];
const FLAGS = { yes: true, agentAcp: "loop demo-agent" } as const;

export async function demoGoal(flags: { json?: boolean }, io: Io): Promise<number> {
  const project = mkdtempSync(join(tmpdir(), "loopwright demo "));
  const say = (line: string) => {
    if (!flags.json) io.out(line);
  };
  const stop = listenForStop();
  // with an empty HOME, npm writes to a folder `~` in the project
  if (process.env.HOME === "") delete process.env.HOME;
  try {
    writeProject(project);
    say(
      `${paint(io, "bold", "Loopwright demo")}: the repository, the tests and the checks are real. Only the agent is scripted, and it lies twice.`,
    );
    say("");
    say(`$ loop until "${WORDS[0]}" --yes ${WORDS[1]}`);
    const goal = await run(project, flags, io, stop);
    if (stop.signal.aborted) return EXIT.interrupted;
    if (flags.json) io.json(viewEnd(goal));
    else if (goal.end?.status === "done") summarise(goal, say, io);
    return goal.end?.status === "done" ? EXIT.ok : exitCodeOf(goal) || EXIT.failure;
  } finally {
    rmSync(project, { recursive: true, force: true });
    stop.off();
  }
}

async function run(root: string, flags: { json?: boolean }, io: Io, stop: StopRequest): Promise<Goal> {
  ensureLoopDir(root);
  const project = openProject({ project: root }, io);
  const { store } = project;
  const config = defaultConfig();
  const { draft } = readSpec(WORDS, FLAGS, project, config, {});
  const { id } = await addGoal(store, draft, Date.now(), newLoopId);
  const agent = openAgent(root);
  const show = createDemoView(flags, io);
  let shown: Goal | null = null;
  const load = () => {
    const loop = store.load(id);
    return loop?.kind === "goal" ? loop : null;
  };
  try {
    await runForeground(
      {
        project,
        agent,
        goalAgent: agent,
        firing: true,
        stop,
        // the goal's lines already show what a notice says
        view: { ...createPlainView(io), notify: () => {} },
      },
      (run) => ({
        observe: (news) => {
          if (news.type === "problem") io.say(news.message);
          if (news.type === "agent") show.agent(news.event);
          const goal = load();
          if (goal === null) return;
          show.goal(shown, goal);
          shown = goal;
          if (goal.status !== "active" && goal.notice === null) void run.stop("the demo is over");
        },
      }),
    );
  } finally {
    await agent.close();
  }
  const goal = load();
  if (goal === null) throw new Error("the demo lost its goal");
  return goal;
}

function createDemoView(flags: { json?: boolean }, io: Io) {
  let isReport = false;
  /** Hides the agent's report, which is for the engine. */
  const renderSaid = (line: string): string | null => {
    if (line === START) isReport = true;
    const isForEngine = isReport;
    if (line === END) isReport = false;
    return isForEngine ? null : paint(io, "dim", `  “${line}”`);
  };
  return {
    goal: (before: Goal | null, goal: Goal) => {
      for (const change of changesOf(before, goal)) {
        if (flags.json) {
          const [type, fields] = describeGoalChange(change, goal);
          io.json({ type, ...fields });
        } else for (const line of renderGoalChange(change, goal, Date.now(), io)) io.out(line);
      }
    },
    agent: (event: AgentEvent) => {
      const line = event.type === "text" ? renderSaid(event.text) : renderAgentEvent(event, io);
      if (line !== null && !flags.json) io.out(line);
    },
  };
}

/** Starts this program again as the agent. */
function openAgent(projectDir: string): ReturnType<typeof createAcpAgent> {
  const [executable, script] = commandBeside(process.argv[1] ?? "");
  const profile = { ...profileOf("demo"), args: [script, "demo-agent"] };
  return createAcpAgent({
    profile,
    program: { executable },
    projectDir,
    keepRuns: Number.POSITIVE_INFINITY,
  });
}

function writeProject(project: string): void {
  for (const [path, text] of Object.entries(DEMO_FILES)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const program = findProgram("git", process.env) ?? "";
  const git = (...args: string[]) => execFileSync(program, args, { cwd: project, stdio: "ignore" });
  try {
    git("init", "-q");
    git("add", "-A");
    const identity = "-c user.name=demo -c user.email=demo@localhost -c commit.gpgsign=false".split(" ");
    git(...identity, "commit", "-qm", "start");
  } catch {
    // the loop runs without git too, and says what is missing
  }
}

function summarise(goal: Goal, say: (line: string) => void, io: Io): void {
  const refused = goal.receipts.slice(0, -1).filter(({ claimedExit }) => claimedExit).length;
  say("");
  say(paint(io, "bold", "What happened"));
  say(
    `  The agent claimed to be done ${refused + 1} times. The engine rejected ${refused} of these claims, because the`,
  );
  say("  tests failed or a test was changed. The checks proved the last claim.");
  say('  Next, in your own project: loop until "npm test passes" <what to do>');
  say("  To see schedules: loop demo tasks");
}
