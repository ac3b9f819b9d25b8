/**
 * Goals as this process knows them to be. Anybody who can write to the folder can write lines that count, an agent
 * too, and lines carry the whole loop: one that says "done" would be believed. So while a process holds the lease,
 * a goal is what its own lines made of it. Lines of others are decided again; what does not follow from the goal as
 * it was, in whatever way it came in (a line, a snapshot, a journal in the place of the journal), is not believed,
 * and is told to the engine, whose next line puts it right.
 *
 * It watches over a live run. Who kills the runner first, or can change this program, is not kept out.
 */

import type { Backlog } from "../../core/backlog/backlog.ts";
import { decide } from "../../core/decide.ts";
import type { Goal } from "../../core/goal/goal.ts";
import type { Loop, LoopId } from "../../core/loop.ts";
import type { LoopEntry } from "./entry.ts";

/** Loops that end as done: to say so is worth a forgery. */
type Guarded = Goal | Backlog;

export class ForgeryGuard {
  readonly #good = new Map<LoopId, Guarded>();
  readonly #told = new Set<LoopId>();
  /** Lines came that are not believed, whatever our own have made of the goal since. */
  readonly #suspect = new Set<LoopId>();
  #token: number | null = null;

  /**
   * From here on only this process may write under the token. What it knew of goals when it lost an earlier lease
   * still holds, with what others have decided since: a lease that is lost may have been taken by a forged line.
   */
  arm(token: number, loops: Iterable<Loop>): void {
    this.#token = token;
    // what was told under a lease that was gone by then could not be put right
    this.#told.clear();
    for (const loop of loops)
      if (loop.kind !== "task" && !this.#good.has(loop.id)) this.#good.set(loop.id, loop);
  }

  disarm(): void {
    this.#token = null;
    this.#good.clear();
    this.#told.clear();
    this.#suspect.clear();
  }

  /** A line that counts. */
  take(entry: LoopEntry, isOwn: boolean): void {
    const { id, loop } = entry;
    if (this.#token === null || loop.kind === "task") return;
    const good = this.#good.get(id);
    if (isOwn || (good === undefined ? isNew(entry) : entry.token !== this.#token && follows(good, entry)))
      this.#good.set(id, loop);
    else this.#suspect.add(id);
    // what was put right may be forged again
    if (isOwn) this.#told.delete(id);
  }

  /** What is to be believed of a loop that the journal says this of; its version is the journal's. */
  believe(id: LoopId, said: Loop | undefined): Loop | undefined {
    if (this.#token === null || said?.kind === "task") return said;
    const good = this.#good.get(id);
    if (good === said || isGone(good, said)) return said;
    // Never heard of: it came by a line that makes no new goal.
    if (good === undefined) return undefined;
    if (said !== undefined && isSame(good, said)) {
      this.#good.set(id, said);
      return said;
    }
    return { ...good, version: said?.version ?? 0 };
  }

  ids(): Iterable<LoopId> {
    return this.#token === null ? [] : this.#good.keys();
  }

  /** Goals that the journal says something else of, as they are to be believed; each is told once. */
  takeForged(saidOf: (id: LoopId) => Loop | undefined): readonly Guarded[] {
    const found: Guarded[] = [];
    for (const id of this.ids()) {
      const said = saidOf(id);
      const good = this.believe(id, said);
      if (good === undefined || good.kind === "task") continue;
      const isSuspect = this.#suspect.delete(id);
      if (!isSuspect && (good === said || this.#told.has(id))) continue;
      this.#told.add(id);
      found.push(good);
    }
    return found;
  }
}

function follows(good: Guarded, { event, at, loop, ver }: LoopEntry): boolean {
  // the version before it is the journal's: a forged line in between may have raised it
  const decision = decide({ ...good, version: ver - 1 }, event, at);
  return decision.kind === "change" && JSON.stringify(decision.loop) === JSON.stringify(loop);
}

/** A goal that a person starts has nothing done yet. */
function isNew({ event, ver, loop }: LoopEntry): boolean {
  if (event.type === "backlog.created" && loop.kind === "backlog")
    return ver === 1 && loop.status === "active" && loop.iteration === 0 && loop.attempts.length === 0;
  if (event.type !== "goal.created" || ver !== 1 || loop.kind !== "goal") return false;
  const isUntouched =
    loop.iteration === 0 && loop.job === null && loop.phase.kind === "survey" && loop.end === null;
  return loop.status === "active" && isUntouched && Object.keys(loop.evidence).length === 0;
}

/** The journal keeps only the newest of the goals that have ended. */
function isGone(good: Guarded | undefined, said: Loop | undefined): boolean {
  return said === undefined && (good === undefined || good.status === "ended");
}

function isSame(good: Guarded, said: Loop): boolean {
  return JSON.stringify(good) === JSON.stringify(said);
}
