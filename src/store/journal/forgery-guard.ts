/**
 * Protects goals and backlogs against forged lines. Every program of this person can read the key and sign a line that
 * counts, even an agent, and a line contains the whole loop: a forged line could say "done". So while a process holds the
 * lease, it trusts its own lines. It decides the lines of other processes again. A state that does not follow from the
 * known state is not trusted, whether it came by a line, a snapshot or a replaced journal. The guard reports it to the
 * engine, whose next line corrects it. An unsigned line changes nothing, and is reported all the same.
 *
 * The guard protects a live run. It does not protect against somebody who kills the runner or changes this program.
 */
import type { Backlog } from "../../core/backlog/backlog.ts";
import { decide } from "../../core/decide.ts";
import type { Goal } from "../../core/goal/goal.ts";
import type { Loop, LoopId } from "../../core/loop.ts";
import type { LoopEntry } from "./entry.ts";

/** The loops that can end as done, which is worth forging. */
type Guarded = Goal | Backlog;

export class ForgeryGuard {
  readonly #good = new Map<LoopId, Guarded>();
  readonly #told = new Set<LoopId>();
  /** Loops with an untrusted line, even if own lines followed. */
  readonly #suspect = new Set<LoopId>();
  #token: number | null = null;

  /**
   * From now on only this process may write under the token. It still trusts what it knew under an earlier lease, with
   * the valid decisions of others since then: a forged line may have taken that lease.
   */
  arm(token: number, loops: Iterable<Loop>): void {
    this.#token = token;
    // a forgery that was reported after the lease was lost could not be corrected
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

  /** Takes a line that counts. */
  take(entry: LoopEntry, isOwn: boolean): void {
    const { id, loop } = entry;
    if (this.#token === null || loop.kind === "task") return;
    const good = this.#good.get(id);
    if (isOwn || (good === undefined ? isNew(entry) : entry.token !== this.#token && follows(good, entry)))
      this.#good.set(id, loop);
    else this.#suspect.add(id);
    // a corrected loop may be forged again
    if (isOwn) this.#told.delete(id);
  }

  /** A line without the person's signature changes nothing, but somebody tried. Nobody knows for which loop. */
  takeForeign(): void {
    for (const [id, { status }] of this.#good) if (status === "active") this.#suspect.add(id);
  }

  /** Does this process know the state of the loop, whatever the journal says? */
  knows(id: LoopId): boolean {
    return this.#token !== null && this.#good.has(id);
  }

  /** The trusted state of a loop, with the version of the journal. `said` is the state in the journal. */
  believe(id: LoopId, said: Loop | undefined): Loop | undefined {
    if (this.#token === null || said?.kind === "task") return said;
    const good = this.#good.get(id);
    if (good === said || isGone(good, said)) return said;
    // unknown: it came by a line that is not a valid creation
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

  /** The trusted states of loops that differ from the journal. Each one is returned once. */
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
  // use the version of the journal: a forged line in between may have raised it
  const decision = decide({ ...good, version: ver - 1 }, event, at);
  return decision.kind === "change" && JSON.stringify(decision.loop) === JSON.stringify(loop);
}

/** A valid new loop has no work done yet. */
function isNew({ event, ver, loop }: LoopEntry): boolean {
  if (event.type === "backlog.created" && loop.kind === "backlog")
    return ver === 1 && loop.status === "active" && loop.iteration === 0 && loop.attempts.length === 0;
  if (event.type !== "goal.created" || ver !== 1 || loop.kind !== "goal") return false;
  const isUntouched =
    loop.iteration === 0 && loop.job === null && loop.phase.kind === "survey" && loop.end === null;
  return loop.status === "active" && isUntouched && Object.keys(loop.evidence).length === 0;
}

/** The journal keeps only the newest ended goals. */
function isGone(good: Guarded | undefined, said: Loop | undefined): boolean {
  return said === undefined && (good === undefined || good.status === "ended");
}

function isSame(good: Guarded, said: Loop): boolean {
  return JSON.stringify(good) === JSON.stringify(said);
}
