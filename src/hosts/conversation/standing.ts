/**
 * The status of a conversation's loop: which loop is bound, how a stop is routed now, and how an interrupt or the end
 * of the conversation pauses the loop. Must not put a turn into the conversation or answer the client.
 */
import { renderLoopComplete } from "../../core/backlog/report.ts";
import { ownerOf } from "../../core/session.ts";
import { type Route, routeStop } from "../../core/stop/route.ts";
import { renderVerdictBox } from "../../core/text/goal/verdict-box.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../ports/store.ts";
import { type Bound, boundable, boundLoop, boundTo, pauseBound } from "./bound-loop.ts";
import type { Seat } from "./seat.ts";

interface StandingParts {
  readonly session: string;
  readonly store: Store;
  readonly seat: Seat;
  readonly engine: Engine;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** The command that a person types in this client, such as `/loop`. */
  readonly commandName: string;
}

const ESCAPED = "you stopped its turn";
const CONVERSATION_ENDED = "its conversation ended";

export class Standing {
  readonly #parts: StandingParts;

  constructor(parts: StandingParts) {
    this.#parts = parts;
  }

  get owner(): string {
    return ownerOf(this.#parts.session);
  }

  /** The loop of this conversation that has not ended. */
  bound(): Bound | undefined {
    return boundable(this.#parts.store).findLast(
      ({ session, status }) => session === this.owner && status !== "ended",
    );
  }

  /** The loop that messages are about: the active loop, or else the one that paused or ended last. */
  shown(): Bound | undefined {
    return boundTo(boundable(this.#parts.store), this.owner);
  }

  /** The other owner that holds the lease; null: none. */
  otherOwner(): string | null {
    const owner = this.#parts.store.lease()?.owner ?? null;
    return owner === this.owner ? null : owner;
  }

  /** The decision for a stop at this moment. */
  route(otherOwner: string | null, isSomeoneWaiting: boolean): Route {
    const { session, store, now, env, commandName } = this.#parts;
    return routeStop({
      session,
      otherOwner,
      isSomeoneWaiting,
      commandName,
      now: now(),
      broken: null,
      off: loopsOff(env),
      loop: boundLoop(boundable(store), this.owner, session),
    });
  }

  /** Pauses the loop at once, until the person continues it. false: no loop was active. */
  async interrupt(): Promise<boolean> {
    const { seat, engine } = this.#parts;
    const isPaused = await this.#pause(ESCAPED);
    seat.end({ kind: "interrupted", reason: ESCAPED });
    engine.nudge();
    return isPaused;
  }

  /** Pauses the loop until a person continues it, here or elsewhere. `settle` runs before the record is closed. */
  async endSession(settle: () => Promise<void> = async () => {}): Promise<void> {
    const { store, seat } = this.#parts;
    await store.catchUp();
    await this.#pause(CONVERSATION_ENDED);
    seat.end({ kind: "interrupted", reason: CONVERSATION_ENDED });
    await settle();
    seat.update({ state: "over" });
    await store.published?.publish();
  }

  async #pause(reason: string): Promise<boolean> {
    const { store, now } = this.#parts;
    const loop = this.bound();
    if (loop?.status !== "active") return false;
    await pauseBound(store, loop, reason, now());
    return true;
  }
}

/** The full result of an ended loop; null: not ended, or nothing to show. */
export function renderVerdict(loop: Bound | undefined): string | null {
  if (loop?.status !== "ended") return null;
  if (loop.kind === "backlog") return renderLoopComplete(loop.iteration, loop.stories);
  return loop.end?.status === "done" ? renderVerdictBox(loop) : null;
}

/** Why loops are turned off here (A20); null: they are on. */
export function loopsOff(env: NodeJS.ProcessEnv): string | null {
  return env.LOOP_DISABLE_SCHEDULER === "1" ? "LOOP_DISABLE_SCHEDULER=1 turns loops off here" : null;
}
