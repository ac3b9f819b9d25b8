/**
 * Several agents as one. The first agent that can take a turn takes it. When a quota, an outage or a missing login
 * stops an agent, the next one takes the same turn at once. Owns the list of unavailable agents while this process
 * lives. Must not start anything after the death of a runner.
 *
 * 1. Agents run one after the other, each at most once per token, in its own run folder. The turn's id stays the
 *    same.
 * 2. A recovery checks the last agent first, and an agent that it finds not started never starts. So no other agent
 *    takes this turn, and the next turn goes to the next agent.
 * 3. Only the agent of a conversation gets its id. Any other agent gets the full text.
 * 4. The usage of agents that failed counts too.
 */

import { sumUsage } from "../../core/cost/usage.ts";
import { resetOf } from "../../core/failures.ts";
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import { renderMoment } from "../../core/text/figures.ts";
import type {
  Activity,
  Agent,
  Conversation,
  Turn,
  TurnControl,
  TurnEnd,
  TurnFate,
} from "../../ports/agent.ts";
import { failedEnd, makeFailure } from "../process/reasons.ts";

export interface ChainOptions {
  readonly now?: () => number;
  /** How long an agent is skipped after an outage or a missing login. */
  readonly passOverMs?: number;
}

interface Member {
  readonly agent: Agent;
  readonly label: string;
  readonly index: number;
  readonly isAbsent: boolean;
}

interface Out {
  readonly failure: Failure;
  readonly until: number;
}

type Ended = Exclude<TurnEnd, { kind: "cancelled" }>;
type Failed = Extract<TurnEnd, { kind: "failed" }>;

/** Failures where another agent may help. */
const OUT: ReadonlySet<FailureClass> = new Set<FailureClass>(["quota", "outage", "auth"]);
const PASS_OVER_MS = 5 * 60_000;

/** The order is the order of the attempts. Keep the chain between turns: it remembers who is unavailable. */
export function createChain(agents: readonly Agent[], options: ChainOptions = {}): Agent {
  const members = membersOf(agents);
  const chain = new Chain(members, options);
  return {
    name: members.map(({ label }) => label).join(", "),
    run: (turn, control) => chain.run(turn, control),
    reconcile: (turn, control) => chain.reconcile(turn, control),
    close: async () => {
      await Promise.all(agents.map((agent) => agent.close?.()));
    },
  };
}

/** Holds the place of an agent that is not installed. `finder` finds turns that the agent took earlier. */
export function createAbsentAgent(name: string, reason: string, finder: Pick<Agent, "reconcile">): Agent {
  const run = async () => failedEnd("auth", reason);
  const absent: Agent = { name, run, reconcile: (turn, control) => finder.reconcile(turn, control) };
  ABSENT.add(absent);
  return absent;
}

const ABSENT = new WeakSet<Agent>();

class Chain {
  readonly #members: readonly Member[];
  readonly #now: () => number;
  readonly #passOverMs: number;
  /** By label. An entry stays until the agent takes a turn again. */
  readonly #outs = new Map<string, Out>();
  /** Absence is reported once. */
  readonly #saidAbsent = new Set<Member>();

  constructor(members: readonly Member[], { now = Date.now, passOverMs = PASS_OVER_MS }: ChainOptions) {
    this.#members = members;
    this.#now = now;
    this.#passOverMs = passOverMs;
  }

  async run(turn: Turn, control: TurnControl): Promise<TurnEnd> {
    const once = startedOnce(control);
    const tried: Failed[] = [];
    for (const member of this.#askable()) {
      if (control.signal.aborted) return { kind: "cancelled" };
      this.#announce(member, control);
      const end = named(await member.agent.run(turnFor(member, turn), once), member);
      if (!isOut(end)) return this.#taken(member, tried, end);
      this.#note(member, end.failure);
      tried.push(end);
    }
    return this.#nobody(turn, tried);
  }

  async reconcile(turn: Turn, control: TurnControl): Promise<TurnFate> {
    const once = startedOnce(control);
    for (const member of this.#members.toReversed()) {
      const fate = await member.agent.reconcile(turnFor(member, turn), once);
      if (fate.kind === "lost") return fate;
      if (fate.kind === "ended")
        return { kind: "ended", end: await this.#recovered(member, turn, control, fate.end) };
      if (fate.kind === "running")
        return { ...fate, end: fate.end.then((end) => this.#recovered(member, turn, control, end)) };
    }
    return { kind: "never" };
  }

  /** The available agents. If there are none: the agents without a known reset time, or else all of them. */
  #askable(): readonly Member[] {
    const free = this.#members.filter((member) => this.#isFree(member));
    if (free.length > 0) return free;
    const now = this.#now();
    const unsure = this.#members.filter(({ label }) => {
      const out = this.#outs.get(label);
      return out === undefined || resetOf(out.failure, now) === null;
    });
    return unsure.length > 0 ? unsure : this.#members;
  }

  #isFree({ label }: Member): boolean {
    return (this.#outs.get(label)?.until ?? 0) <= this.#now();
  }

  #note({ label }: Member, failure: Failure): void {
    const now = this.#now();
    this.#outs.set(label, { failure, until: resetOf(failure, now) ?? now + this.#passOverMs });
  }

  #announce(member: Member, { onEvent, onTaken = onEvent }: TurnControl): void {
    const before = this.#members[member.index - 1];
    const out = before === undefined ? undefined : this.#outs.get(before.label);
    if (before === undefined || out === undefined || this.#saidAbsent.has(before)) return;
    if (before.isAbsent) this.#saidAbsent.add(before);
    const reason = describe(before, out.failure);
    onTaken?.({ type: "taken", by: member.label, instead: before.label, reason });
  }

  #taken(member: Member, tried: readonly Failed[], end: TurnEnd): TurnEnd {
    if (end.kind === "cancelled") return end;
    this.#outs.delete(member.label);
    const why = this.#whyNot(this.#members.slice(0, member.index));
    const taker =
      member.index === 0 ? {} : { takenBy: member.label, ...(why === "" ? {} : { takenWhy: why }) };
    return { ...joined(tried, end), ...taker };
  }

  /** Reports the failure of the agent that is available first. */
  #nobody(turn: Turn, tried: readonly Failed[]): TurnEnd {
    const outs = this.#members.flatMap(({ label }) => this.#outs.get(label) ?? []);
    const [first] = outs.toSorted((a, b) => freeAt(a) - freeAt(b));
    const last = tried.at(-1);
    if (first === undefined || last === undefined) return failedEnd("fault", "the chain has no agent");
    const reason = this.#members.length === 1 ? first.failure.reason : this.#whyNot(this.#members);
    return unended(turn, tried, last, { ...first.failure, reason });
  }

  /** The end of a turn that another runner began. The earlier agents have ended already. */
  async #recovered(member: Member, turn: Turn, control: TurnControl, end: TurnEnd): Promise<TurnEnd> {
    const tried: Failed[] = [];
    for (const earlier of this.#members.slice(0, member.index)) {
      const fate = await earlier.agent.reconcile(turnFor(earlier, turn), { ...control, onStarted: () => {} });
      const before = fate.kind === "ended" ? named(fate.end, earlier) : null;
      if (before === null || !isOut(before)) continue;
      this.#note(earlier, before.failure);
      tried.push(before);
    }
    const last = named(end, member);
    if (!isOut(last)) return this.#taken(member, tried, last);
    this.#note(member, last.failure);
    const next = this.#members.slice(member.index + 1).find((later) => this.#isFree(later));
    const all = [...tried, last];
    if (next === undefined) return this.#nobody(turn, all);
    const reason = `${this.#whyNot(this.#members.slice(0, next.index))}; the next turn goes to ${next.label}`;
    return unended(turn, all, last, makeFailure("outage", reason));
  }

  #whyNot(members: readonly Member[]): string {
    const known = members.flatMap((member) => {
      const out = this.#outs.get(member.label);
      return out === undefined ? [] : [`${member.label}: ${describe(member, out.failure)}`];
    });
    return known.join("; ");
  }
}

function membersOf(agents: readonly Agent[]): readonly Member[] {
  const seen = new Map<string, number>();
  return agents.map((agent, index) => {
    // a label ends at the first colon of a conversation id
    const name = agent.name.replaceAll(":", "-");
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return { agent, index, label: count === 1 ? name : `${name}-${count}`, isAbsent: ABSENT.has(agent) };
  });
}

function turnFor({ label, index }: Member, turn: Turn): Turn {
  const conversation = unnamed(turn.conversation, label);
  const isFresh = turn.conversation !== null && conversation === null;
  const own = { ...turn, conversation, text: isFresh ? (turn.textIfFresh ?? turn.text) : turn.text };
  if (index === 0) return own;
  // the model belongs to the first agent
  const { model: _, ...rest } = own;
  const { LOOP_MODEL: _model, ...env } = turn.env;
  return { ...rest, env, run: `${turn.run ?? turn.id}.${index + 1}` };
}

function unnamed(conversation: Conversation | null, label: string): Conversation | null {
  if (conversation === null || !conversation.id.startsWith(`${label}:`)) return null;
  return { ...conversation, id: conversation.id.slice(label.length + 1) };
}

function named<E extends TurnEnd>(end: E, { label }: Member): E {
  const { conversation } = end;
  if (conversation == null) return end;
  return { ...end, conversation: { ...conversation, id: `${label}:${conversation.id}` } };
}

function isOut(end: TurnEnd): end is Failed {
  return end.kind === "failed" && OUT.has(end.failure.class);
}

function joined<E extends Ended>(tried: readonly Failed[], end: E): E {
  const usage = tried.map((each) => each.usage).reduce(sumUsage, null);
  const activity = tried.map((each) => each.activity).reduce(joinActivity, null);
  return { ...end, usage: sumUsage(usage, end.usage), activity: joinActivity(activity, end.activity) };
}

/** A turn that no agent took. Its conversation can still continue. */
function unended(turn: Turn, tried: readonly Failed[], last: Failed, failure: Failure): TurnEnd {
  const owner = turn.conversation?.id.split(":")[0];
  const kept = tried.find(({ conversation }) => conversation?.id.split(":")[0] === owner);
  const conversation = owner === undefined ? last.conversation : (kept?.conversation ?? null);
  return { ...joined(tried.slice(0, -1), last), failure, conversation };
}

function joinActivity(a: Activity | null, b: Activity | null): Activity | null {
  if (a === null || b === null) return a ?? b;
  const edits = { ...a.edits };
  for (const [path, count] of Object.entries(b.edits)) edits[path] = (edits[path] ?? 0) + count;
  const reads = a.reads === undefined || b.reads === undefined ? {} : { reads: [...a.reads, ...b.reads] };
  const permanent = [...(a.permanent ?? []), ...(b.permanent ?? [])];
  return {
    toolCalls: a.toolCalls + b.toolCalls,
    edits,
    denials: [...a.denials, ...b.denials],
    ...reads,
    ...(permanent.length === 0 ? {} : { permanent }),
  };
}

/** A login does not come back by itself. */
function freeAt({ failure, until }: Out): number {
  return failure.class === "auth" ? Number.POSITIVE_INFINITY : until;
}

const WORDS: Readonly<Partial<Record<FailureClass, string>>> = {
  outage: "out of service",
  auth: "NO ACCESS",
};

/** One line for a person: the class, the time, and the agent's words. */
function describe({ isAbsent }: Member, { class: kind, reason, resetsAt }: Failure): string {
  if (isAbsent) return reason;
  const until = kind === "quota" && resetsAt !== null ? ` until ${renderMoment(resetsAt)}` : "";
  return `${WORDS[kind] ?? kind}${until}${reason === "" ? "" : ` (${reason})`}`;
}

/** The port allows one call. The first process stands for the turn. */
function startedOnce(control: TurnControl): TurnControl {
  let isStarted = false;
  return {
    ...control,
    onStarted: (process) => {
      if (isStarted) return;
      isStarted = true;
      control.onStarted(process);
    },
  };
}
