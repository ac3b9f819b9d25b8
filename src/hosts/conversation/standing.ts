/**
 * The status of a conversation's loop: which loop is bound, how a stop is routed now, and how an interrupt or the end
 * of the conversation pauses the loop. Must not put a turn into the conversation or answer the client.
 */
import { renderLoopComplete } from "../../core/backlog/report.ts";
import { ownerOf } from "../../core/session.ts";
import { type Route, routeStop } from "../../core/stop/route.ts";
import { renderVerdictBox } from "../../core/text/goal/verdict-box.ts";
import { requestEvent } from "../../engine/tasks/tasks.ts";
import { type Bound, boundable, boundLoop, boundTo } from "./bound-loop.ts";
import type { OpenSeat } from "./open-seat.ts";

const ESCAPED = "you stopped its turn";
const CONVERSATION_ENDED = "its conversation ended";

export class Standing {
  readonly #open: OpenSeat;
  readonly #commandName: string;

  /** `commandName`: the command that a person types in this client, such as `/loop`. */
  constructor(open: OpenSeat, commandName: string) {
    this.#open = open;
    this.#commandName = commandName;
  }

  get owner(): string {
    return ownerOf(this.#open.session);
  }

  /** The loop of this conversation that has not ended. */
  bound(): Bound | undefined {
    return boundable(this.#open.store).findLast(
      ({ session, status }) => session === this.owner && status !== "ended",
    );
  }

  /** The loop that messages are about: the active loop, or else the one that paused or ended last. */
  shown(): Bound | undefined {
    return boundTo(boundable(this.#open.store), this.owner);
  }

  /** The other owner that holds the lease; null: none. */
  otherOwner(): string | null {
    const owner = this.#open.store.lease()?.owner ?? null;
    return owner === this.owner ? null : owner;
  }

  /** The decision for a stop at this moment. */
  route(otherOwner: string | null, isSomeoneWaiting: boolean): Route {
    const { session, store, now, env } = this.#open;
    return routeStop({
      session,
      otherOwner,
      isSomeoneWaiting,
      commandName: this.#commandName,
      now: now(),
      broken: null,
      off: loopsOff(env),
      loop: boundLoop(boundable(store), this.owner, session),
    });
  }

  /** Pauses the loop at once, until the person continues it. false: no loop was active. */
  async interrupt(): Promise<boolean> {
    const { seat, engine } = this.#open;
    const isPaused = await this.#pause(ESCAPED);
    seat.end({ kind: "interrupted", reason: ESCAPED });
    engine.nudge();
    return isPaused;
  }

  /** Pauses the loop until a person continues it, here or elsewhere. `settle` runs before the record is closed. */
  async endSession(settle: () => Promise<void> = async () => {}): Promise<void> {
    const { store, seat } = this.#open;
    await store.catchUp();
    await this.#pause(CONVERSATION_ENDED);
    seat.end({ kind: "interrupted", reason: CONVERSATION_ENDED });
    await settle();
    seat.update({ state: "over" });
    await store.published?.publish();
  }

  async #pause(reason: string): Promise<boolean> {
    const { store, now } = this.#open;
    const loop = this.bound();
    if (loop?.status !== "active") return false;
    await requestEvent(store, loop, { type: `${loop.kind}.paused`, code: "interrupted", reason }, now());
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
