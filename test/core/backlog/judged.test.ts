/** The evaluator's word through a tool: on record with its job, and gone with it. */
import { describe, expect, test } from "vitest";
import type { AttemptJob, ToolVerdict } from "../../../src/core/backlog/backlog.ts";
import { decideBacklog } from "../../../src/core/backlog/decide-backlog.ts";
import type { BacklogEvent } from "../../../src/core/backlog/event.ts";
import { readVerdict, toolVerdictsOf } from "../../../src/core/backlog/verdict.ts";
import { OWNERS_EVENTS } from "../../../src/core/event.ts";
import type { JobId } from "../../../src/core/goal/goal.ts";
import { aBacklogAt } from "../../support/turn-world.ts";

const NOW = Date.UTC(2026, 0, 5, 9);
const ID = "cccc0001-1" as JobId;

const job = (fields: Partial<AttemptJob> = {}): AttemptJob => ({
  id: ID,
  phase: "evaluate",
  token: 1,
  nonce: "n1",
  intendedAt: NOW,
  startedAt: NOW,
  process: null,
  ...fields,
});
const said = (fields: Partial<ToolVerdict> = {}): ToolVerdict => ({
  nonce: "n1",
  verdict: "PASS",
  reason: null,
  ...fields,
});
const judged = (verdict: ToolVerdict, jobId = ID): BacklogEvent => ({
  type: "attempt.judged",
  jobId,
  said: verdict,
});

function tell(events: readonly BacklogEvent[], begun = job()) {
  return events.reduce(
    (backlog, event) => {
      const decision = decideBacklog(backlog, event, NOW);
      return decision.kind === "change" ? decision.loop : backlog;
    },
    aBacklogAt("cccc0001", begun),
  );
}

describe("C5 C6 a verdict by tool", () => {
  test("only the owner of the lease writes it down", () => {
    expect(OWNERS_EVENTS.has("attempt.judged")).toBe(true);
  });

  test.each<[string, ToolVerdict[], "pass" | "reject" | "none"]>([
    ["PASS", [said()], "pass"],
    ["PASS twice", [said(), said()], "pass"],
    ["REJECT", [said({ verdict: "REJECT", reason: "x" })], "reject"],
    ["PASS, then REJECT", [said(), said({ verdict: "REJECT", reason: "x" })], "none"],
    ["REJECT, then PASS", [said({ verdict: "REJECT", reason: "x" }), said()], "none"],
    ["REJECT, PASS, PASS", [said({ verdict: "REJECT", reason: "x" }), said(), said()], "none"],
    ["PASS with another nonce", [said({ nonce: "n0" })], "none"],
    ["PASS, then REJECT with another nonce", [said(), said({ nonce: "n0", verdict: "REJECT" })], "pass"],
  ])("%s comes to this with nothing in the last message", (_, verdicts, kind) => {
    const backlog = tell(verdicts.map((verdict) => judged(verdict)));
    expect(readVerdict("Done.", toolVerdictsOf(backlog, ID), "n1").kind).toBe(kind);
    // it counts when the turn is over, and not before
    expect(backlog.attempts[0]?.verdict).toBeNull();
    expect(backlog.stories[0]?.passes).toBe(false);
  });

  test.each(["generate", "check", "merge"] as const)("in the phase %s it is refused", (phase) => {
    expect(decideBacklog(aBacklogAt("cccc0001", job({ phase })), judged(said()), NOW)).toEqual({
      kind: "refused",
      message: expect.stringContaining("Only the evaluator"),
    });
  });

  test.each(["n0", ""])("with the nonce %j it is refused, even where the turn has none", (nonce) => {
    for (const own of ["n1", ""])
      expect(
        decideBacklog(aBacklogAt("cccc0001", job({ nonce: own })), judged(said({ nonce })), NOW).kind,
      ).toBe("refused");
  });

  test("said again it changes nothing; for a job that is over neither", () => {
    const backlog = tell([judged(said())]);
    expect(decideBacklog(backlog, judged(said()), NOW).kind).toBe("none");
    expect(decideBacklog(backlog, judged(said(), "cccc0001-9" as JobId), NOW).kind).toBe("none");
  });

  test("an evaluator that was stopped has said nothing: the next is asked anew", () => {
    const stopped: BacklogEvent = { type: "attempt.interrupted", jobId: ID, reason: "stopped" };
    const backlog = tell([judged(said()), stopped]);
    expect(backlog.attempts).toMatchObject([{ job: null, next: "evaluate", verdict: null }]);
    expect(toolVerdictsOf(backlog, ID)).toEqual([]);
  });

  test("reasons are one line and cut, and of each word the last stays", () => {
    const many = Array.from({ length: 50 }, (_, n) =>
      judged(said({ verdict: "REJECT", reason: `${n}\n${"x".repeat(5_000)}` })),
    );
    const verdicts = toolVerdictsOf(tell(many), ID);
    expect(verdicts).toEqual([{ nonce: "n1", verdict: "REJECT", reason: expect.stringMatching(/^49 x/) }]);
    expect(verdicts[0]?.reason?.length).toBeLessThanOrEqual(1_000);
  });
});
