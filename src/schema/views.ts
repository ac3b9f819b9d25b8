/**
 * The JSON that other programs read: `--json`, `state.json`, `progress.json`, and the observer's snapshots and changes.
 * There is one schema per document, version 1. A version may gain fields, but no field changes its meaning.
 */
import * as z from "zod";
import { VERIFICATIONS } from "../core/checks/kinds.ts";

const time = z.iso.datetime();
const moment = time.nullable();
const id = z.string().regex(/^[0-9a-f]{8}$/);
const text = z.string();
const textOrNull = z.string().nullable();
const count = z.int().nonnegative();
const amount = z.number().nonnegative();

const usage = z.looseObject({
  costUsd: z.number().nullable(),
  inputTokens: z.number().nullable(),
  outputTokens: z.number().nullable(),
});
const failure = z.object({ class: text, reason: text, resetsAt: z.number().nullable() }).nullable();
const spent = z.object({
  costUsd: amount,
  tokens: amount,
  timeMs: amount,
  unpriced: count,
  estimatedUsd: amount.optional(),
});
const evidence = z.object({
  exitCode: z.number().nullable(),
  value: z.number().nullable(),
  timedOut: z.boolean(),
  tail: text,
  at: moment,
  durationMs: amount,
  tree: text,
  tests: count.optional(),
  note: textOrNull,
});
const verification = z.enum(VERIFICATIONS);
const pause = z
  .object({ code: text, reason: text, evidence: z.array(text), goOn: text, at: moment })
  .nullable();
const gate = z
  .object({ kind: text, question: text, details: z.array(text), askedAt: moment, answerBy: moment })
  .nullable();
/** What every view of a goal, a backlog or any loop starts with. */
const identity = { id, version: count, session: textOrNull, createdAt: moment };
/** What the lines of goals and backlogs share. */
const line = { id, state: text, iteration: count, maxIterations: count };
/** The process that holds the lease. */
const holder = { owner: text, pid: count, procStart: textOrNull, host: text, token: count };
const waiting = z.object({ until: moment, reason: textOrNull }).nullable();

const ownerViewSchema = z
  .object({ ...holder, acquiredAt: time, heartbeatAt: time })
  .nullable()
  .describe("The live process that holds the lease; null: there is none");

const taskViewSchema = z.object({
  id,
  cron: textOrNull,
  everyMs: amount.nullable(),
  tz: textOrNull,
  prompt: text,
  recurring: z.boolean(),
  durable: z.boolean(),
  where: z.enum(["session", "headless", "either"]),
  state: z.enum(["active", "paused", "missed", "ended"]),
  stateReason: textOrNull,
  running: z.boolean(),
  waiting: z.enum(["initial", "manual"]).nullable(),
  createdAt: time,
  expiresAt: moment,
  lastFiredAt: moment,
  nextFireAt: moment,
  jitterMs: z.number(),
  human: text,
  missed: z.enum(["ask", "once", "skip", "all"]),
  graceMs: amount.nullable(),
  timeoutMs: amount,
  expect: textOrNull,
  alertAfter: count.nullable(),
  failuresInARow: count,
  version: count,
});

const criterionView = z.object({
  met: z.boolean(),
  verification,
  check: z.looseObject({ kind: text }),
  source: text,
  evidence: evidence.nullable(),
});

const goalViewSchema = z.object({
  spec: text,
  criteria: z.array(text),
  criteriaStatus: z.record(z.string(), criterionView),
  exit_signal: z.boolean(),
  steps: z.array(text),
  completedSteps: z.array(text),
  remainingSteps: z.array(text),
  iteration: count,
  status: z.enum(["in_progress", "paused", "completed", "cancelled", "failed"]),
  circuitBreaker: z.object({
    stuckCount: count,
    lastUnmet: textOrNull,
    unmet: z.array(text),
    errorCount: count,
    lastError: textOrNull,
    stillCount: count,
    noopCount: count,
  }),
  kind: z.literal("goal"),
  ...identity,
  score: z.number(),
  shape: z.enum(["tool", "colleague"]),
  workflow: z.enum(["A", "B", "C"]),
  reversibility: z.enum(["2A", "2B", "1"]),
  agent: z.looseObject({ kind: text }),
  step: textOrNull,
  replacedSteps: z.array(text),
  next: textOrNull,
  mustNot: z.array(z.object({ name: text, command: textOrNull })),
  limits: z.looseObject({ budgetUsd: amount, iterations: count }),
  spent,
  running: z.object({ id: text, kind: text, startedAt: moment }).nullable(),
  gate,
  waiting,
  pause,
  end: z
    .object({
      status: z.enum(["done", "cancelled", "failed"]),
      reason: text,
      verdict: z.enum(["SHIP", "MONITOR", "RESEARCH"]).nullable(),
      notes: z.array(text),
      at: moment,
    })
    .nullable(),
  tree: textOrNull,
  greenBefore: z.array(text),
  protectedChanges: z.array(
    z.object({ path: text, change: text, hash: textOrNull, criteria: z.array(text) }),
  ),
  accepted: z.array(z.object({ path: text, hash: textOrNull })),
  receipts: z.array(z.looseObject({ iteration: count, kind: text, jobId: text, failure })),
});

const storyView = z.object({
  id: text,
  title: text,
  description: text,
  acceptanceCriteria: z.array(text),
  checks: z.array(text),
  priority: z.number().nullable(),
  dependsOn: z.array(text),
  passes: z.boolean(),
  notes: text,
  rejections: count,
  blocked: z.boolean(),
  depth: z.enum(["quick", "standard", "thorough"]).nullable(),
  tier: z.number().nullable(),
  status: z.enum(["open", "passed", "blocked"]),
});

const attemptView = z.object({
  story: text,
  iteration: count,
  running: z.object({ id: text, phase: text, startedAt: moment }).nullable(),
  next: text,
  evidence: z.record(z.string(), z.looseObject({ met: z.boolean(), verification })),
  filesChanged: count.nullable(),
  verdict: z.object({ kind: z.enum(["pass", "reject", "none"]), reason: textOrNull }).nullable(),
  worktree: textOrNull,
  spent,
});

const backlogViewSchema = z.object({
  kind: z.literal("backlog"),
  ...identity,
  status: z.enum(["active", "paused", "ended"]),
  mode: z.enum(["explore", "implement", "fix"]),
  iteration: count,
  maxIterations: count,
  parallel: count,
  total: count,
  passed: count,
  blocked: count,
  open: count,
  stories: z.array(storyView),
  attempts: z.array(attemptView),
  spent,
  budgetUsd: amount,
  waiting,
  stopping: z.boolean(),
  pause,
  end: z
    .object({
      outcome: z.enum(["done", "max_iterations", "blocked", "stopped", "cancelled", "error"]),
      reason: text,
      at: moment,
    })
    .nullable(),
  receipts: z.array(z.looseObject({ story: text, iteration: count, outcome: text, failure })),
});

export const loopViewSchema = z.object({
  kind: z.enum(["task", "goal", "backlog"]),
  ...identity,
  title: text,
  status: z.enum(["active", "paused", "missed", "ended"]),
  phase: text,
  nextAt: moment,
  turns: z.array(z.object({ id: text, kind: text, startedAt: moment, story: textOrNull })),
  criteria: z.array(z.object({ name: text, met: z.boolean(), verification, evidence: evidence.nullable() })),
  done: count,
  total: count,
  budget: z
    .object({
      costUsd: amount.nullable(),
      unpriced: count,
      estimatedUsd: amount,
      tokens: amount,
      budgetUsd: amount.nullable(),
    })
    .nullable(),
  gate,
  pause,
  end: z.object({ reason: text, verdict: textOrNull, at: moment }).nullable(),
  detail: z.union([taskViewSchema, goalViewSchema, backlogViewSchema]),
});

const schemaName = (name: string) => z.literal(`loopwright/schemas/${name}.json`);

export const snapshotSchema = z.object({
  $schema: schemaName("snapshot"),
  version: z.literal(1),
  at: time,
  cursor: text,
  owner: ownerViewSchema,
  loops: z.array(loopViewSchema),
});

const outcomeView = z.object({
  fireId: text,
  taskId: id,
  slot: time,
  dueAt: time,
  outcome: z.enum(["ok", "failed", "skipped", "missed", "interrupted"]),
  kind: text,
  reason: textOrNull,
  startedAt: moment,
  finishedAt: moment,
  usage: usage.optional(),
  takenBy: text.optional(),
  foundBy: z.enum(["seal", "marks", "group"]).optional(),
  count: count.optional(),
  untilSlot: time.optional(),
});

export const changeSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("change"),
    cursor: text,
    at: time,
    event: text,
    outcomes: z.array(outcomeView),
    loop: loopViewSchema,
  }),
  z.object({ kind: z.literal("reset"), cursor: text, snapshot: snapshotSchema }),
]);

const goalLine = z.object({ ...line, spec: text });
const backlogLine = z.object({
  ...line,
  passed: count,
  blocked: count,
  total: count,
  stories: z.array(text),
});

export const listSchema = z.object({
  $schema: schemaName("list"),
  version: z.literal(1),
  owner: ownerViewSchema,
  firing: z.boolean().describe("false: LOOP_DISABLE_SCHEDULER=1"),
  tasks: z.array(taskViewSchema),
  goals: z.array(goalLine),
  backlogs: z.array(backlogLine),
  held: z
    .array(z.object({ id, version: count, was: count }))
    .describe("loops that were further than the journal says, so they do not run"),
});

const goalProgress = z.object({
  id,
  status: z.enum(["active", "paused", "ended"]),
  phase: text,
  step: textOrNull,
  stepsDone: count,
  stepsTotal: count,
  iteration: count,
  iterations: count,
  criteriaMet: count,
  criteriaTotal: count,
  costUsd: amount.nullable(),
  unpriced: count,
  isEstimate: z.literal(true).optional(),
  budgetUsd: amount,
  tokens: amount,
  pauseReason: textOrNull,
  gate: textOrNull,
  waitUntil: moment,
  endedAt: moment,
  session: textOrNull,
});

export const progressSchema = z.object({
  $schema: schemaName("progress"),
  version: z.literal(1),
  at: moment,
  tasks: z.object({
    live: count,
    paused: count,
    missed: count,
    nextFireAt: moment,
    nextId: textOrNull,
  }),
  goal: goalProgress.nullable(),
  otherGoals: z.array(goalProgress),
  backlogs: z.array(backlogLine),
  lease: z.object({ ...holder, acquiredAt: z.number() }).nullable(),
  folder: count.optional().describe("The inode of the folder: it does not match in a copy of the folder"),
});

export const stateSchema = goalViewSchema.extend({ $schema: schemaName("state"), sum: text.optional() });
