/**
 * The one place to watch loops, from any process. It reads only through the store's ports, so it works with every
 * store. It changes nothing and holds nothing: no lease, no lock, no file.
 *
 * 1. A snapshot has a cursor. `changes` from that cursor reports everything that happened after the snapshot. It may
 *    repeat what happened while the snapshot was taken, but it never omits anything.
 * 2. A reader that was away too long gets a fresh snapshot instead of the missing changes, never a silent gap.
 * 3. The text and the tool calls of a turn are readable by the turn's id, even while another process runs the turn.
 */
import type { Loop, LoopId } from "../core/loop.ts";
import type { BacklogLine, GoalLine } from "../core/views/line.ts";
import { lineOfBacklog, lineOfGoal } from "../core/views/lines.ts";
import { type LoopView, viewLoop } from "../core/views/loop-view.ts";
import { iso } from "../core/views/moment.ts";
import { type OutcomeView, viewOutcome } from "../core/views/outcome-view.ts";
import { SNAPSHOT_SCHEMA } from "../core/views/schema-names.ts";
import { type TaskView, viewTask } from "../core/views/task-view.ts";
import type { ActivityPage, TurnActivity, TurnName } from "../ports/activity.ts";
import type { Clock } from "../ports/clock.ts";
import type { HistoryEntry, LoopHistory } from "../ports/history.ts";
import type { LeaseStore } from "../ports/lease.ts";
import type { LoopStore } from "../ports/loops.ts";
import { Bell } from "./bell.ts";
import { type OwnerView, viewOwner } from "./owner.ts";

/** The parts of a store that the observer reads. */
type Observed = Pick<LoopStore, "catchUp" | "faults" | "load" | "loops" | "watch"> &
  Pick<LeaseStore, "lease" | "heartbeatAt" | "holderState"> & {
    readonly history: LoopHistory;
  };

export interface LoopsSnapshot {
  readonly $schema: typeof SNAPSHOT_SCHEMA;
  readonly version: 1;
  readonly at: string;
  /** Pass it to `changes` as `after`. */
  readonly cursor: string;
  readonly owner: OwnerView | null;
  readonly loops: readonly LoopView[];
}

/** One line for each loop that has not ended: what `loop list` shows. */
export interface Listing {
  readonly owner: OwnerView | null;
  readonly tasks: readonly TaskView[];
  readonly goals: readonly GoalLine[];
  readonly backlogs: readonly BacklogLine[];
  /** Loops that were further than the journal says, so they do not run. */
  readonly held: readonly HeldLine[];
}

export interface HeldLine {
  readonly id: LoopId;
  readonly version: number;
  /** The version that it had. */
  readonly was: number;
}

export type Change =
  | {
      readonly kind: "change";
      /** The place after this change. */
      readonly cursor: string;
      readonly at: string;
      /** The name of the event: `task.created`, `job.turned`, … */
      readonly event: string;
      /** The outcomes of a task's slots. */
      readonly outcomes: readonly OutcomeView[];
      /** The loop after the change. */
      readonly loop: LoopView;
    }
  /** Older changes are no longer available: this snapshot replaces them. */
  | { readonly kind: "reset"; readonly cursor: string; readonly snapshot: LoopsSnapshot };

/** How often to look when the system does not report changes. */
const LOOK_MS = 1_000;
const ACTIVITY_LOOK_MS = 150;
const PAGE = 500;

interface Following {
  readonly after?: string;
  readonly signal: AbortSignal;
}

export class Observer {
  readonly #store: Observed;
  readonly #clock: Clock;
  readonly #activity: TurnActivity | null;

  /** `activity`: null when the store cannot show running turns. */
  constructor(store: Observed, clock: Clock, activity: TurnActivity | null) {
    this.#store = store;
    this.#clock = clock;
    this.#activity = activity;
  }

  /** Every loop of all three kinds, recently ended ones included. */
  async snapshot(): Promise<LoopsSnapshot> {
    // the cursor first: a change between the two reads is then reported twice, and not lost
    const cursor = await this.#store.history.end();
    await this.#store.catchUp();
    return {
      $schema: SNAPSHOT_SCHEMA,
      version: 1,
      at: iso(this.#clock.now()),
      cursor,
      owner: this.owner(),
      loops: [...this.#store.loops()].sort(byAge).map(viewLoop),
    };
  }

  /** The state as of the store's last `catchUp`. */
  listing(): Listing {
    const live = [...this.#store.loops()].filter(({ status }) => status !== "ended").sort(byAge);
    return {
      owner: this.owner(),
      tasks: live.filter((loop) => loop.kind === "task").map(viewTask),
      goals: live.filter((loop) => loop.kind === "goal").map(lineOfGoal),
      backlogs: live.filter((loop) => loop.kind === "backlog").map(lineOfBacklog),
      held: this.#store
        .faults()
        .flatMap((fault) => (fault.kind === "held" ? fault.loops : []))
        .map(({ id, has, had }) => ({ id, version: has, was: had })),
    };
  }

  loop(id: LoopId): LoopView | null {
    const loop = this.#store.load(id);
    return loop === undefined ? null : viewLoop(loop);
  }

  owner(): OwnerView | null {
    const lease = this.#store.lease();
    const isAlive = lease !== null && this.#store.holderState(lease, this.#clock.now()) === "alive";
    return isAlive ? viewOwner(lease, this.#store.heartbeatAt(lease)) : null;
  }

  /** Ends only with the signal. `after`: the cursor of a snapshot or of an earlier change. Default: from now on. */
  async *changes({ after, signal }: Following): AsyncGenerator<Change> {
    const { history } = this.#store;
    const bell = new Bell((callback) => this.#store.watch(callback), this.#clock, signal);
    try {
      let cursor = after ?? (await history.end());
      while (!signal.aborted) {
        const page = await history.read({ after: cursor, limit: PAGE });
        if (page.kind === "too-old") {
          const snapshot = await this.snapshot();
          cursor = snapshot.cursor;
          yield { kind: "reset", cursor, snapshot };
          continue;
        }
        cursor = page.next;
        for (const entry of page.entries) yield viewChange(entry);
        if (page.isEnd) await bell.wait(LOOK_MS);
      }
    } finally {
      bell.close();
    }
  }

  /** Ends when the turn has ended and all of it was reported, or with the signal. */
  async *activity(turn: TurnName, { after, signal }: Following): AsyncGenerator<ActivityPage> {
    // the system does not report an agent's output, so this looks again and again
    const bell = new Bell(() => () => {}, this.#clock, signal);
    try {
      let cursor = after;
      while (!signal.aborted) {
        // before the page is read: the page then has everything that the turn did before its end
        await this.#store.catchUp();
        const isRunning = this.loop(turn.loopId)?.turns.some(({ id }) => id === turn.turnId) ?? false;
        const page = await this.readActivity(turn, cursor);
        cursor = page?.next ?? cursor;
        if (page !== null && page.events.length > 0) yield page;
        else if (!isRunning) return;
        else await bell.wait(ACTIVITY_LOOK_MS);
      }
    } finally {
      bell.close();
    }
  }

  /** One page of activity; null: the turn is unknown. */
  async readActivity(turn: TurnName, after?: string): Promise<ActivityPage | null> {
    return (await this.#activity?.read(turn, after === undefined ? {} : { after })) ?? null;
  }
}

function viewChange({ cursor, at, event, outcomes, loop }: HistoryEntry): Change {
  return {
    kind: "change",
    cursor,
    at: iso(at),
    event: event.type,
    outcomes: outcomes.map(viewOutcome),
    loop: viewLoop(loop),
  };
}

/** Oldest first. */
function byAge(a: Loop, b: Loop): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
