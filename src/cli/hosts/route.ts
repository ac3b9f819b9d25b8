/** `loop route`: what would become of a conversation that stopped now, and why (D12). Changes nothing. */

import { isTurn } from "../../core/goal/changes.ts";
import { decideGoal } from "../../core/goal/decide-goal.ts";
import type { Goal, Job } from "../../core/goal/goal.ts";
import { isSessionId, ownerOf, sessionOf } from "../../core/session.ts";
import { type BoundLoop, type Route, routeStop, type StopFacts } from "../../core/stop/route.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { currentStep, iterationOf } from "../../core/text/goal/goal-facts.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { LoopError, usageError } from "../../errors.ts";
import { capOf } from "../../hosts/claude-code/hooks/block-cap.ts";
import { hasQueued, isSomeoneQueued, readTranscript } from "../../hosts/claude-code/usage/transcript.ts";
import { hasMonitor } from "../../hosts/claude-code/wake.ts";
import { boundable, boundLoop } from "../../hosts/conversation/bound-loop.ts";
import { nearCap } from "../../hosts/conversation/hooks/block-cap.ts";
import { loopsOff } from "../../hosts/conversation/standing.ts";
import type { Lease, SessionRecord, Store } from "../../ports/store.ts";
import { FOREIGN, originOf } from "../../store/folder/origin.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { openProject, type Project, type ProjectFlags } from "../project.ts";
import { commandNameIn, hostSession } from "./host-session.ts";

export interface RouteFlags extends ProjectFlags {
  readonly json?: boolean;
  readonly session?: string;
}

/** All that the decision rests on, and what else helps to understand it. */
interface Look {
  readonly facts: StopFacts;
  readonly goal: Goal | null;
  readonly holder: Holder | null;
  readonly record: SessionRecord | null;
  readonly isOpen: boolean;
  /** Could an idle conversation be woken? */
  readonly canWake: boolean;
}

/** Who holds the lease and is there. */
interface Holder {
  readonly lease: Lease;
  readonly isOurs: boolean;
  /** Would it not give it up to this conversation? */
  readonly isKept: boolean;
}

interface Next {
  readonly kind: "turn" | "checks" | "question" | "pause";
  readonly text: string;
}

/** The decision of a stop hook as programs see it; near the client's own limit it is let go and woken again. */
type Shown = Route | { readonly kind: "wake"; readonly message: string };

export async function routeCommand(flags: RouteFlags, io: Io): Promise<number> {
  const named = flags.session === undefined ? null : parseSessionFlag(flags.session);
  const look = lookAt(named, flags, io);
  const route = decide(look);
  const next = route.kind === "allow" || look.goal === null ? null : nextOf(look.goal, look);
  if (flags.json) io.json(viewRoute(route, look, next));
  else for (const line of renderRoute(route, look, next)) io.out(line);
  return EXIT.ok;
}

/** `session:` before it is how owners are shown, and does no harm. Anything else binds to nothing, and is refused. */
export function parseSessionFlag(text: unknown): string {
  const name = typeof text === "string" ? (sessionOf(text) ?? text) : "";
  if (isSessionId(name)) return name;
  throw usageError(
    `--session needs what the client calls the conversation: letters, digits and dashes, at most 64.`,
  );
}

/** What cannot be read is a fact like others: the hook lets the conversation go for it. */
function lookAt(named: string | null, flags: RouteFlags, io: Io): Look {
  try {
    return readFacts(named, openProject(flags, io));
  } catch (error) {
    if (error instanceof LoopError && error.code === "usage") throw error;
    const broken = error instanceof Error ? error.message : String(error);
    const session = named ?? sessionOf(hostSession(process.env)) ?? "";
    const commandName = commandNameIn(process.env);
    const off = loopsOff(process.env);
    const facts = { session, now: Date.now(), broken, off, loop: null, commandName, ...NOBODY };
    return { facts, goal: null, holder: null, record: null, isOpen: false, canWake: false };
  }
}

const NOBODY = { otherOwner: null, isSomeoneWaiting: false } as const;

function readFacts(named: string | null, { dir, store }: Project): Look {
  const now = Date.now();
  const goals = allGoals(store);
  const newest = boundable(store).findLast((goal) => sessionOf(goal.session) !== null);
  const session = named ?? sessionOf(hostSession(process.env) ?? newest?.session ?? null) ?? "";
  const owner = ownerOf(session);
  const loop = boundLoop(boundable(store), owner, session);
  const lease = liveOwner(store, now);
  const isKept = lease !== null && lease.owner !== owner && isAtWork(store, lease);
  const holder = lease === null ? null : { lease, isKept, isOurs: lease.owner === owner };
  const record = store.sessions.read(session);
  return {
    facts: {
      session,
      now,
      broken: originOf(dir) === "foreign" ? FOREIGN : null,
      off: loopsOff(process.env),
      loop,
      otherOwner: holder?.isKept ? holder.lease.owner : null,
      isSomeoneWaiting: isSomeoneWaiting(record),
      commandName: commandNameIn(process.env),
    },
    goal: goals.find(({ id }) => id === loop?.id) ?? null,
    holder,
    record,
    isOpen: record !== null && !store.sessions.isOver(owner),
    canWake: record !== null && hasMonitor(dir, record.client.pid),
  };
}

/** As in `engine/handover.ts`: it gives the lease to a conversation that needs it, but not while it works itself. */
function isAtWork(store: Store, { owner, token }: Lease): boolean {
  return [...store.loops()].some((loop) => {
    if (loop.kind === "task") return loop.fire?.token === token;
    if (loop.kind === "backlog") return loop.status === "active";
    const isForHolder = loop.session === null || loop.session === owner;
    return loop.job?.token === token || (loop.status === "active" && isForHolder);
  });
}

/** As the stop hook sees it: the client tells at once, and writes it into the transcript some moments later. */
function isSomeoneWaiting(record: SessionRecord | null): boolean {
  if (record === null) return false;
  const lines = readTranscript(record.transcript, record.offset);
  return isSomeoneQueued(lines) || (record.isSomeoneWaiting && !hasQueued(lines));
}

function decide({ facts, record, canWake }: Look): Shown {
  // The hook asks for the lease only where it would go on: a question is put whoever holds it.
  const free = routeStop({ ...facts, otherOwner: null });
  const route = free.kind === "go-on" ? routeStop(facts) : free;
  const cap = capOf(process.env);
  if (route.kind === "allow" || !canWake || !nearCap(record?.blocks ?? 0, cap)) return route;
  return {
    kind: "wake",
    message: `[LOOP] ${route.loop} goes on in a moment: the client stops after ${cap} answers without a tool call.`,
  };
}

/** What follows the stop of a loop that goes on. */
function nextOf(goal: Goal, { record, facts }: Look): Next {
  const { job } = goal;
  if (job !== null && isTurn(job) && record?.turn?.id === job.id) return afterTurn(goal, job);
  const { job: next, pause, gate } = foresee(goal, facts.now);
  if (next !== null) return nextJob(goal, next);
  if (gate !== null) return { kind: "question", text: `it asks: ${gate.question}` };
  return { kind: "pause", text: `it pauses: ${pause?.reason ?? "nothing is left to do"}` };
}

/** Decided as its owner would, on a copy. A warning comes by itself, so one decision may not be enough. */
function foresee(goal: Goal, now: number): Goal {
  let next = goal;
  for (let round = 0; round < MOST_ROUNDS && isFree(next); round++) {
    const decision = decideGoal(next, { type: "goal.due", token: 0, nonce: "" }, now);
    if (decision.kind !== "change") break;
    next = decision.loop;
  }
  return next;
}

const MOST_ROUNDS = 4;

function isFree({ status, job, gate }: Goal): boolean {
  return status === "active" && job === null && gate === null;
}

/** The turn that the conversation has: the stop is its end. */
function afterTurn(goal: Goal, { id, kind }: Job): Next {
  if (kind === "plan") return { kind: "turn", text: `turn ${id} ends, and the plan is read from its answer` };
  return { kind: "checks", text: `turn ${id} ends, and the engine runs the checks: ${checksOf(goal)}` };
}

function nextJob(goal: Goal, { kind }: Job): Next {
  switch (kind) {
    case "survey":
      return { kind: "checks", text: `the engine runs the checks before any work: ${checksOf(goal)}` };
    case "checks":
      return { kind: "checks", text: `the engine runs the checks: ${checksOf(goal)}` };
    case "plan":
      return { kind: "turn", text: "a turn that plans the steps" };
    case "precheck":
      return { kind: "turn", text: "a turn of a second agent that looks at the plan" };
    case "work":
      return {
        kind: "turn",
        text: `iteration ${iterationOf(goal)}: ${currentStep(goal) ?? "what is unmet"}`,
      };
  }
}

function checksOf({ criteria }: Goal): string {
  return criteria.length === 0 ? "none is named yet" : criteria.map(({ name }) => name).join(", ");
}

function viewRoute(route: Shown, look: Look, next: Next | null): object {
  const { facts, goal, holder, record, isOpen } = look;
  return {
    decision: route.kind === "go-on" ? "go-on" : "allow",
    row: rowOf(route),
    word: route.kind === "allow" ? route.word : null,
    message: route.kind === "go-on" ? null : route.message,
    loop: facts.loop?.id ?? null,
    session: facts.session === "" ? null : facts.session,
    next,
    facts: {
      broken: facts.broken,
      off: facts.off,
      loop: facts.loop === null ? null : viewLoop(facts.loop, goal?.session ?? null),
      lease: holder === null ? null : viewHolder(holder),
      otherOwner: facts.otherOwner,
      isSomeoneWaiting: facts.isSomeoneWaiting,
      conversation:
        record === null ? null : { state: record.state, isOpen, turn: turnIn(record), blocks: record.blocks },
    },
  };
}

function viewHolder({ lease: { owner, pid, host }, isKept }: Holder): object {
  return { owner, pid, host, isKept };
}

function viewLoop(loop: BoundLoop, session: string | null): object {
  const { status, pause, end, gate, waitUntil, waitReason, isBusy } = loop;
  return {
    session,
    status,
    pause: pause && { code: pause.code, reason: pause.reason, goOn: pause.goOn },
    end: end && { status: end.status, reason: end.reason },
    gate: gate && { question: gate.question },
    waitUntil: momentOf(waitUntil),
    waitReason,
    isBusy,
  };
}

/** An agent may name a moment that no calendar has. */
function momentOf(at: number | null): string | null {
  return at === null || !(Math.abs(at) <= 8.64e15) ? null : new Date(at).toISOString();
}

function rowOf(route: Shown): string {
  return route.kind === "wake" ? "near the client's limit" : route.row;
}

/** The decision, what it rests on, and what follows. */
function renderRoute(route: Shown, look: Look, next: Next | null): readonly string[] {
  const decision =
    route.kind === "go-on"
      ? `Goes on (${route.row}): the stop is taken, and goal ${route.loop} goes on in the conversation.`
      : `Allows the stop (${rowOf(route)}): ${route.message ?? "nothing is said to the person."}`;
  return [
    cleanLine(decision),
    ...renderFacts(look).map((fact) => `  ${cleanLine(fact)}`),
    ...(next === null ? [] : [cleanLine(`Next: ${next.text}`)]),
  ];
}

function renderFacts(look: Look): readonly string[] {
  const { facts, goal, holder } = look;
  return [
    `session: ${renderConversation(look)}`,
    `state: ${facts.broken ?? "can be read"}`,
    `goal: ${goal === null ? "none" : renderGoal(goal, facts.session)}`,
    `loops here: ${facts.off ?? "on"}`,
    `lease: ${holder === null ? "nobody who is there holds it" : renderHolder(holder)}`,
    `a person waits: ${facts.isSomeoneWaiting ? "yes" : "no"}`,
  ];
}

function renderHolder({ lease: { owner, pid, host }, isOurs, isKept }: Holder): string {
  const what = isKept ? ", which is at work" : isOurs ? "" : ", which gives it up when it is asked";
  return `${owner}, pid ${pid} on ${host}${what}`;
}

function renderConversation({ facts, record, isOpen }: Look): string {
  if (facts.session === "") return "none was named, and no goal is bound to one";
  if (record === null) return `${facts.session}, of which there is no record here`;
  const turn = turnIn(record);
  const what = turn === null ? "no turn of ours" : `turn ${turn}`;
  return `${facts.session}, ${isOpen ? record.state : "over"}, ${what}`;
}

function turnIn({ turn }: SessionRecord): string | null {
  return turn !== null && turn.end === null ? turn.id : null;
}

function renderGoal(goal: Goal, session: string): string {
  const { id, status, job, gate, session: bound } = goal;
  const whose =
    bound === null ? "bound to no session" : bound === ownerOf(session) ? "of this session" : `of ${bound}`;
  const busy = job === null ? "" : `, ${job.kind} under way`;
  return `${id}, ${status}${busy}${gate === null ? "" : ", asks"}, ${whose}`;
}
