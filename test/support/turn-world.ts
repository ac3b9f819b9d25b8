/** A project whose runner this very process is, with loops that have a turn under way: the turns of all roles. */
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AttemptJob, Backlog } from "../../src/core/backlog/backlog.ts";
import type { LoopEvent } from "../../src/core/event.ts";
import type { JobId, JobKind } from "../../src/core/goal/goal.ts";
import type { Loop, LoopId } from "../../src/core/loop.ts";
import type { Turn } from "../../src/ports/agent.ts";
import { FolderStore } from "../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../src/store/folder/loop-dir.ts";
import { aStory } from "../core/backlog/story-samples.ts";
import { makeTurn } from "../fixtures/agents/project.ts";
import { aGoal, aJob, START } from "./goals/goals.ts";
import { fires, HOUR, once, paced, task } from "./tasks.ts";

export const NOW = START + HOUR;
export const TOKEN = 1;
export const EVALUATORS_NONCE = "e7a1";

export async function makeTurnWorld() {
  const project = mkdtempSync(join(tmpdir(), "loop's turn "));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  const store = new FolderStore(ensureLoopDir(project), { now: () => NOW, say: () => {} });
  const self = { owner: "runner:test", pid: process.pid, procStart: null, host: hostname() };
  await store.acquire({ ...self, acquiredAt: START }, 0);

  async function put<L extends Loop>(loop: L): Promise<L> {
    const event = { type: `${loop.kind}.created` } as LoopEvent;
    const created = { ...loop, version: 1 };
    const commit = { id: loop.id, expectedVersion: 0, loop: created, event, effects: [], outcomes: [] };
    const result = await store.commit({ ...commit, at: START, token: TOKEN });
    if (result.kind !== "committed") throw new Error(JSON.stringify(result));
    return created;
  }

  return {
    project,
    store,
    /** A turn of this role, whose work is under way. */
    turns: {
      paced: async () => fireTurn(await put(fired("aaaa0001", "paced"))),
      once: async () => fireTurn(await put(fired("aaaa0002", "once"))),
      work: async () => goalTurn("bbbb0001", "work", "generator"),
      plan: async () => goalTurn("bbbb0002", "plan", "planner"),
      precheck: async () => goalTurn("bbbb0003", "precheck", "judge"),
      /** Asked in a round of checks: its id is of no job. */
      judge: async () => {
        const turn = await goalTurn("bbbb0004", "checks", "judge");
        return { ...turn, id: `${turn.id}-judge1.0` };
      },
      generator: () => storyTurn("cccc0001", "generate", "generator"),
      evaluator: () => storyTurn("cccc0002", "evaluate", "evaluator"),
    },
  };

  async function goalTurn(id: string, kind: JobKind, role: string): Promise<Turn> {
    const job = aJob({ id: `${id}-1` as JobId, kind, nonce: `n-${id}` });
    await put(aGoal({ id: id as LoopId, job }));
    return turnOf(id, job.id, { LOOP_KIND: kind, LOOP_ROLE: role, LOOP_NONCE: job.nonce });
  }

  async function storyTurn(id: string, phase: "generate" | "evaluate", role: string): Promise<Turn> {
    const job: AttemptJob = {
      ...{ id: `${id}-1` as JobId, phase, token: TOKEN, nonce: EVALUATORS_NONCE },
      intendedAt: START,
      startedAt: START,
      process: null,
    };
    await put(aBacklogAt(id, job));
    return turnOf(id, job.id, { LOOP_KIND: role, LOOP_ROLE: role, LOOP_NONCE: job.nonce });
  }
}

export type Role = keyof Awaited<ReturnType<typeof makeTurnWorld>>["turns"];

function turnOf(loopId: string, id: string, env: Turn["env"]): Turn {
  return makeTurn({ id, loopId: loopId as LoopId, token: TOKEN, env });
}

function fired(id: string, kind: "paced" | "once") {
  const draft = { id: id as LoopId };
  return fires(kind === "paced" ? task(paced(START), draft) : task(once(START), draft), START + 1).loop;
}

function fireTurn({ id, fire }: ReturnType<typeof fired>): Turn {
  if (fire === null) throw new Error("nothing was fired");
  return turnOf(id, fire.id, { LOOP_KIND: fire.kind });
}

/** One story, at which this job is under way. */
export function aBacklogAt(id: string, job: AttemptJob): Backlog {
  const agent = { kind: "command", command: "x" } as const;
  const spent = { costUsd: 0, tokens: 0, timeMs: 0, unpriced: 0 };
  return {
    kind: "backlog",
    id: id as LoopId,
    version: 1,
    session: null,
    status: "active",
    createdAt: START,
    terms: {
      mode: "implement",
      maxIterations: 20,
      branchPrefix: "loop/",
      target: "main",
      evalRetries: 2,
      skipEval: false,
      parallel: 1,
      only: null,
      checks: [],
      budgetUsd: 25,
      scope: { maxFilesToRead: 40, maxLinesToWrite: 800, maxFilesToModify: 20 },
      generator: agent,
      evaluator: agent,
      turnTimeoutMs: HOUR,
      checkTimeoutMs: HOUR,
      models: { generator: null, evaluator: null, depths: { quick: null, standard: null, thorough: null } },
    },
    stories: [aStory("US-1")],
    attempts: [
      {
        ...{ story: "US-1", iteration: 1, job, next: job.phase, diff: null, evidence: {}, checkedTree: "t1" },
        verdict: null,
        place: null,
        spent,
        outputTokens: 0,
      },
    ],
    places: [],
    iteration: 1,
    jobs: 1,
    spent,
    receipts: [],
    freeFailures: 0,
    waitUntil: null,
    waitReason: null,
    isStopping: false,
    pause: null,
    end: null,
    notice: null,
  };
}
