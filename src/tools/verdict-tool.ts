/**
 * The evaluator's verdict on a story (C6) as structured data instead of a tag in its last message. The same rules apply:
 * one clear verdict, in addition to the engine's own checks.
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
  /** The token of this process's lease, for events that only the owner may write; null: no lease. */
  readonly ownToken: () => number | null;
}

export const verdictInput = z
  .strictObject({
    verdict: z.enum(["PASS", "REJECT"]).describe("PASS only if every criterion is met"),
    reason: z.string().max(20_000).optional().describe("required with REJECT: what is wrong and where"),
    nonce: z.string().optional().describe("optional: the nonce of this turn"),
  })
  .refine(({ verdict, reason }) => verdict === "PASS" || (reason ?? "").trim() !== "", {
    path: ["reason"],
    error: "say what is wrong: the next attempt learns only this",
  });

export const verdictOutput = z.object({
  taken: z.enum(["PASS", "REJECT"]),
  warning: z.string().optional().describe("why the verdict does not count"),
});

/** The verdict for this job only. The host, never the agent, says which job it is. */
export function verdictOnJob(
  { store, now, ownToken }: VerdictToolContext,
  { backlog, job }: { readonly backlog: Backlog; readonly job: AttemptJob },
  input: unknown,
): Promise<ToolResult<z.output<typeof verdictOutput>>> {
  return attempt(verdictInput, input, async ({ verdict, reason = null, nonce = job.nonce }) => {
    const said = { nonce, verdict, reason: verdict === "PASS" ? null : reason };
    const event = { type: "attempt.judged", jobId: job.id, said } as const;
    const token = ownToken();
    // An agent can write journal lines without an owner, so a verdict must carry the token of the evaluator's runner.
    if (token === null) throw usageError(NOT_HERE);
    const applied = await applyEvent(store, backlog.id, event, now(), token);
    if (applied.kind === "refused") throw usageError(applied.message);
    if (applied.kind === "fenced") throw usageError(NOT_HERE);
    const after = store.load(backlog.id);
    const verdicts = after?.kind === "backlog" ? toolVerdictsOf(after, job.id) : [];
    if (verdicts.length === 0) throw usageError("The evaluator's turn has ended: the verdict came too late.");
    return { taken: verdict, ...(verdicts.length > 1 ? { warning: BOTH } : {}) };
  });
}

const NOT_HERE =
  "This process does not run the backlog any more. Put the verdict at the end of your last message instead.";
const BOTH = "You gave both PASS and REJECT in this turn, so there is no valid verdict.";
