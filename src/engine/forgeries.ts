/** Undoes forged lines of the journal: a line contains the whole loop, so one new line restores it. */
import type { Backlog } from "../core/backlog/backlog.ts";
import { decide } from "../core/decide.ts";
import type { Goal } from "../core/goal/goal.ts";
import type { Store } from "../ports/store.ts";
import type { Applied } from "./apply.ts";

type Guarded = Goal | Backlog;

const REASON = "the journal was tampered with: another program wrote a line that the engine did not write";

interface Undone {
  /** The trusted state. */
  readonly good: Guarded;
  readonly applied: Applied;
}

/** Restores each loop and pauses it, because a person has to look at it. */
export async function undoForgeries(
  store: Store,
  now: number,
  token: number | null,
): Promise<readonly Undone[]> {
  if (token === null) return [];
  const undone: Undone[] = [];
  for (const good of store.takeForged())
    undone.push({ good, applied: await undoForgery(store, good, now, token) });
  return undone;
}

async function undoForgery(store: Store, good: Guarded, now: number, token: number): Promise<Applied> {
  for (;;) {
    const expectedVersion = store.load(good.id)?.version ?? good.version;
    const event = { type: `${good.kind}.paused`, code: "forged", reason: REASON } as const;
    const decision = decide<Guarded>({ ...good, version: expectedVersion }, event, now);
    if (decision.kind !== "change") return decision;
    const { kind: _, ...change } = decision;
    const result = await store.commit({ id: good.id, expectedVersion, ...change, event, at: now, token });
    if (result.kind === "committed") return { ...result, ...change };
    if (result.kind === "fenced") return result;
  }
}
