/** Whose figure a cost is, and who took the turn: in receipts, in what was spent, and wherever they are shown. */
import { describe, expect, test } from "vitest";
import { renderAgentEvent } from "../../../src/cli/live/goal-lines.ts";
import { renderNews } from "../../../src/cli/live/lines.ts";
import { outcomeRow } from "../../../src/cli/render/tasks.ts";
import type { AttemptJob } from "../../../src/core/backlog/backlog.ts";
import { decideBacklog } from "../../../src/core/backlog/decide-backlog.ts";
import type { BacklogEvent } from "../../../src/core/backlog/event.ts";
import type { Usage } from "../../../src/core/base.ts";
import { limitReached } from "../../../src/core/cost/limits.ts";
import type { Goal, JobId } from "../../../src/core/goal/goal.ts";
import { decidePriced } from "../../../src/core/goal/priced.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import { renderReportMarkdown } from "../../../src/core/text/goal/goal-report.ts";
import { renderReceiptLine, renderReceipts } from "../../../src/core/text/goal/receipt.ts";
import { renderGoalStatus } from "../../../src/core/text/goal/status.ts";
import { renderStatusLine } from "../../../src/core/text/status-line.ts";
import { viewEnd, viewGoal } from "../../../src/core/views/goal-view.ts";
import { progressOf } from "../../../src/core/views/progress.ts";
import type { AgentEvent } from "../../../src/ports/agent.ts";
import { aTurn, Play } from "../../support/goals/goal-play.ts";
import { aGoal, aReceipt, LIMITS, NOTHING_SPENT, START } from "../../support/goals/goals.ts";
import { changed, every, fires, MINUTE, task } from "../../support/tasks.ts";
import { aBacklogAt } from "../../support/turn-world.ts";

const BY_TABLE: Usage = {
  costUsd: 0.75,
  inputTokens: 1_000,
  outputTokens: 200,
  costFrom: "prices",
  pricesDate: "2026-11-06",
  model: "gpt-5.5",
};
const NOTE = "~ by the price table of 2026-11-06: the agent reported tokens but no cost";

const estimated = (overrides: Partial<Goal> = {}): Goal =>
  aGoal({
    iteration: 2,
    spent: { costUsd: 1.17, tokens: 45_600, timeMs: 200_000, unpriced: 0, estimatedUsd: 0.75 },
    receipts: [
      aReceipt(),
      aReceipt({
        iteration: 2,
        costUsd: 0.75,
        costFrom: "prices",
        pricesDate: "2026-11-06",
        takenBy: "codex",
        notes: ["codex took the turn: claude: quota until 2026-11-15 14:05 UTC"],
      }),
    ],
    ...overrides,
  });

describe("a cost by the price table", () => {
  test("B12 counts as any cost, and the receipt says whose figure it is", () => {
    const play = Play.begun();
    play.due();
    play.turned(aTurn({ usage: BY_TABLE }));
    expect(play.goal.spent).toMatchObject({ costUsd: 0.75, estimatedUsd: 0.75, unpriced: 0 });
    expect(play.goal.receipts.at(-1)).toMatchObject({
      costUsd: 0.75,
      costFrom: "prices",
      pricesDate: "2026-11-06",
    });
    const judges = { ...BY_TABLE, costUsd: 0.25 };
    play.checked([], { usage: judges });
    expect(play.goal.spent).toMatchObject({ costUsd: 1, estimatedUsd: 1 });
    expect(play.goal.receipts.at(-1)).toMatchObject({ costUsd: 1, costFrom: "prices" });
  });

  test("B12 a figure of the agent's own is not marked, nor is one that is not known", () => {
    for (const usage of [{ costUsd: 0.5, inputTokens: 1, outputTokens: 1 }, null]) {
      const play = Play.begun();
      play.due();
      play.turned(aTurn({ usage }));
      expect(play.goal.spent).not.toHaveProperty("estimatedUsd");
      expect(play.goal.receipts.at(-1)).not.toHaveProperty("costFrom");
      expect(play.goal.receipts.at(-1)).not.toHaveProperty("takenBy");
    }
  });

  test("B12 stops a goal at its budget", () => {
    const spent = { ...NOTHING_SPENT, costUsd: 25, estimatedUsd: 25 };
    expect(limitReached(aGoal({ limits: LIMITS, spent }))?.code).toBe("budget");
  });

  test("B12 that comes to be known after the turn goes into its receipt", () => {
    const jobId = "b7c1d2e3-9" as JobId;
    const receipt = aReceipt({ jobId, costUsd: null, inputTokens: null, outputTokens: null });
    const goal = aGoal({ receipts: [receipt], spent: { ...NOTHING_SPENT, unpriced: 1 } });
    const decision = decidePriced(goal, jobId, BY_TABLE);
    expect(decision).toMatchObject({
      kind: "change",
      loop: {
        receipts: [{ costUsd: 0.75, costFrom: "prices", pricesDate: "2026-11-06" }],
        spent: { costUsd: 0.75, estimatedUsd: 0.75, unpriced: 0, tokens: 1_200 },
      },
    });
  });

  test("B16 is marked in the receipts, with what the mark means", () => {
    expect(renderReceipts(estimated(), 100)).toMatchInlineSnapshot(`
      "#        Step                   Time         Tokens  Cost    Files  Checks moved
      1        Find the failing test  1m 35s + 4s  23k     $0.42   2      lint ✓
      2 codex  Find the failing test  1m 35s + 4s  23k     ~$0.75  2      lint ✓
      Total    2 iterations           3m 18s       46k     ~$1.17
      ~ by the price table of 2026-11-06: the agent reported tokens but no cost"
    `);
    expect(renderReceipts(aGoal({ receipts: [aReceipt()] }))).not.toContain("~");
    expect(renderReceiptLine(aReceipt({ costFrom: "prices" }))).toContain("tokens, ~$0.42,");
  });

  test("B16 is marked in the status and in the report", () => {
    const status = renderGoalStatus(estimated(), START);
    expect(status).toContain("Cost: ~$1.17/$25");
    expect(status).toContain(NOTE);
    const report = renderReportMarkdown(estimated());
    expect(report).toContain("~$1.17 of $25");
    expect(report).toContain(`${NOTE}.`);
    expect(report).toMatch(/\| 2 `codex` \|.* ~\$0\.75 \|/);
    expect(report).toContain("codex took the turn: claude: quota until 2026-11-15 14:05 UTC");
    for (const text of [renderGoalStatus(aGoal(), START), renderReportMarkdown(aGoal())])
      expect(text).not.toContain("~");
  });

  test("D9 B17 is marked in the status line and told to programs", () => {
    const progress = progressOf([estimated()], null, START);
    expect(renderStatusLine(progress, { now: START, columns: 200 })).toContain("~$1.17/$25");
    expect(progress.goal).toMatchObject({ costUsd: 1.17, isEstimate: true });
    expect(viewEnd(estimated())).toMatchObject({ costUsd: 1.17, estimatedUsd: 0.75 });
    expect(JSON.parse(JSON.stringify(viewGoal(estimated())))).toMatchObject({
      spent: { estimatedUsd: 0.75 },
      receipts: [{}, { costFrom: "prices", pricesDate: "2026-11-06", takenBy: "codex" }],
    });
  });
});

describe("who took the turn", () => {
  test("E3 is in the receipt of a goal, with the reason", () => {
    const play = Play.begun();
    play.due();
    play.turned(aTurn({ takenBy: "codex", takenWhy: "claude: quota" }));
    expect(play.goal.receipts.at(-1)).toMatchObject({
      takenBy: "codex",
      notes: ["codex took the turn: claude: quota"],
    });
  });

  test("E3 is a line for who watches, in which nothing from outside can move the cursor", () => {
    const event = {
      type: "taken",
      by: "codex",
      instead: "claude",
      reason: "quota until 14:05\u001b[2J",
    } as const;
    expect(renderAgentEvent(event, { colour: false } as never)).toBe(
      "  · claude: quota until 14:05; codex takes the turn",
    );
  });

  test("E3 is a line of the runner of all tasks, and nothing else that an agent does is", () => {
    const news = (event: AgentEvent) =>
      renderNews({ type: "agent", loopId: "3fa2b1c0" as LoopId, event }, 1, START, {
        colour: false,
      } as never);
    expect(news({ type: "taken", by: "codex", instead: "claude", reason: "quota" })).toEqual([
      expect.stringMatching(/ ⇄ agent {2}3fa2b1c0 {2}claude: quota; codex takes the turn$/),
    ]);
    expect(news({ type: "text", text: "hello" })).toEqual([]);
  });

  test("E3 is in the history of a task", () => {
    const begun = fires(task(every(5 * MINUTE), { runNow: true }), START).loop;
    const fireId = begun.fire?.id ?? ("none" as never);
    const finished = { type: "fire.finished", fireId, outcome: "ok", reason: null } as const;
    const [plain] = changed(begun, finished, START).outcomes;
    expect(plain).not.toHaveProperty("takenBy");
    const [taken] = changed(begun, { ...finished, takenBy: "codex", usage: BY_TABLE }, START).outcomes;
    expect(taken).toMatchObject({ takenBy: "codex", usage: { costFrom: "prices" } });
    expect(taken && outcomeRow(taken, START).at(-1)).toMatch(/by codex$/);
  });

  test("E3 C11 is in the receipt of a story, with what of its cost is by the table", () => {
    const NOW = START;
    const job: AttemptJob = {
      id: "cccc0001-1" as JobId,
      phase: "generate",
      token: 1,
      nonce: "n1",
      intendedAt: NOW,
      startedAt: NOW,
      process: null,
    };
    const event: BacklogEvent = {
      type: "attempt.generated",
      jobId: job.id,
      nextNonce: "n2",
      turn: {
        failure: null,
        isSilent: true,
        usage: BY_TABLE,
        durationMs: 1,
        diff: null,
        overScope: null,
        bentStories: false,
        takenBy: "codex",
      },
    };
    expect(decideBacklog(aBacklogAt("cccc0001", job), event, NOW)).toMatchObject({
      kind: "change",
      loop: {
        spent: { costUsd: 0.75, estimatedUsd: 0.75 },
        receipts: [{ takenBy: ["codex"], spent: { estimatedUsd: 0.75 } }],
      },
    });
  });
});
