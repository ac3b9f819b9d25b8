/**
 * The evaluator's verdict on a story as structured data (C6) instead of a tag in its last message. It counts as that
 * does: once and clearly, beside checks that the engine runs itself.
 */
import * as z from "zod";
import type { AttemptJob, Backlog } from "../core/backlog/backlog.ts";
import { toolVerdictsOf } from "../core/backlog/verdict.ts";
import { applyEvent } from "../engine/apply.ts";
import { usageError } from "../errors.ts";
import type { Store } from "../ports/store.ts";
import { attempt, type ToolResult } from "./attempt.ts";

export interface VerdictToolContext {
  readonly store: Store;
  readonly now: () => number;
  /** Of the lease that this process holds, for what only the owner may write; null: it holds none. */
  readonly ownToken: () => number | null;
}

export const verdictInput = z
  .strictObject({
    verdict: z.enum(["PASS", "REJECT"]).describe("PASS only if every criterion is met"),
    reason: z.string().max(20_000).optional().describe("needed with REJECT: what is wrong, and where"),
    nonce: z.string().optional().describe("may be left out; if given, the nonce of this turn"),
  })
  .refine(({ verdict, reason }) => verdict === "PASS" || (reason ?? "").trim() !== "", {
    path: ["reason"],
    error: "say what is wrong: it is all that the next attempt is told",
  });

export interface VerdictTaken {
  readonly taken: "PASS" | "REJECT";
  /** Why it counts for nothing all the same. */
  readonly warning?: string;
}

/** For this job, and no other: whose turn it is is the host's knowledge, never the agent's. */
export function verdictOnJob(
  { store, now, ownToken }: VerdictToolContext,
  { backlog, job }: { readonly backlog: Backlog; readonly job: AttemptJob },
  input: unknown,
): Promise<ToolResult<VerdictTaken>> {
  return attempt(verdictInput, input, async ({ verdict, reason = null, nonce = job.nonce }) => {
    const said = { nonce, verdict, reason: verdict === "PASS" ? null : reason };
    const event = { type: "attempt.judged", jobId: job.id, said } as const;
    const token = ownToken();
    // An agent can write lines of no owner itself: this one has to come from who runs the evaluator.
    if (token === null) throw usageError(NOT_HERE);
    const applied = await applyEvent(store, backlog.id, event, now(), token);
    if (applied.kind === "refused") throw usageError(applied.message);
    if (applied.kind === "fenced") throw usageError(NOT_HERE);
    const after = store.load(backlog.id);
    const verdicts = after?.kind === "backlog" ? toolVerdictsOf(after, job.id) : [];
    if (verdicts.length === 0)
      throw usageError("The turn of this evaluator is over; the verdict came too late.");
    return { taken: verdict, ...(verdicts.length > 1 ? { warning: BOTH } : {}) };
  });
}

const NOT_HERE =
  "This process does not run the backlog any more; end your last message with the verdict instead.";
const BOTH = "You have said both PASS and REJECT in this turn, and that is no verdict.";
