/** `loop route`: shows what happens if a conversation stops now, and why (D12). Changes nothing. */
import { decideGoal } from "../../core/goal/decide-goal.ts";
import type { Goal, Job } from "../../core/goal/goal.ts";
import { isSessionId, ownerOf, sessionOf } from "../../core/session.ts";
import { type BoundLoop, type Route, routeStop, type StopFacts } from "../../core/stop/route.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { currentStep, iterationOf } from "../../core/text/goal/goal-facts.ts";
import { isTurn } from "../../core/views/goal-changes.ts";
import { momentOf } from "../../core/views/moment.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { LoopError, reasonOf, usageError } from "../../errors.ts";
import { capOf } from "../../hosts/claude-code/hooks/block-cap.ts";
import { isSomeoneWaiting } from "../../hosts/claude-code/usage/transcript.ts";
import { hasMonitor } from "../../hosts/claude-code/wake.ts";
import { boundable, boundLoop } from "../../hosts/conversation/bound-loop.ts";
import { nearCap } from "../../hosts/conversation/hooks/block-cap.ts";
import { loopsOff } from "../../hosts/conversation/standing.ts";
import type { Lease, SessionRecord, Store } from "../../ports/store.ts";
import { FOREIGN, originOf } from "../../store/signed/origin.ts";
import { answer, type Io } from "../io.ts";
import { openProject, type Project, type ProjectFlags } from "../project.ts";
import { commandNameIn, hostSession } from "./host-session.ts";

interface RouteFlags extends ProjectFlags {
  readonly session?: string;
}

interface Look {
  readonly facts: StopFacts;
  readonly goal: Goal | null;
  readonly holder: Holder | null;
  readonly record: SessionRecord | null;
  readonly isOpen: boolean;
  /** An idle conversation can be woken. */
  readonly canWake: boolean;
}

interface Holder {
  readonly lease: Lease;
  readonly isOurs: boolean;
  /** It is at work and keeps the lease. */
  readonly isKept: boolean;
}

interface Next {
  readonly kind: "turn" | "checks" | "question" | "pause";
  readonly text: string;
}

/** The stop hook's decision. Near the client's own limit, the conversation stops and is woken again. */
type Shown = Route | { readonly kind: "wake"; readonly message: string };

export async function routeCommand(flags: RouteFlags, io: Io): Promise<number> {
  const named = flags.session === undefined ? null : parseSessionFlag(flags.session);
  const look = lookAt(named, flags, io);
  const route = decide(look);
  const next = route.kind === "allow" || look.goal === null ? null : nextOf(look.goal, look);
  return answer(flags, io, viewRoute(route, look, next), renderRoute(route, look, next).join("\n"));
}

/** Accepts `<id>` and `session:<id>`; refuses ids that no client uses. */
export function parseSessionFlag(text: unknown): string {
  const name = typeof text === "string" ? (sessionOf(text) ?? text) : "";
  if (isSessionId(name)) return name;
  throw usageError(
    "--session needs the conversation's id: letters, digits and dashes, at most 64 characters.",
  );
}

/** An unreadable project is a fact too: the hook allows the stop then. */
function lookAt(named: string | null, flags: RouteFlags, io: Io): Look {
  try {
    return readFacts(named, openProject(flags, io));
  } catch (error) {
    if (error instanceof LoopError && error.code === "usage") throw error;
    const broken = reasonOf(error);
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
      isSomeoneWaiting: record !== null && isSomeoneWaiting(record),
      commandName: commandNameIn(process.env),
    },
    goal: goals.find(({ id }) => id === loop?.id) ?? null,
    holder,
    record,
    isOpen: record !== null && !store.sessions.isOver(owner),
    canWake: record !== null && hasMonitor(dir, record.client.pid),
  };
}

/** As in `engine/handover.ts`: an owner at work does not give the lease to a conversation. */
function isAtWork(store: Store, { owner, token }: Lease): boolean {
  return [...store.loops()].some((loop) => {
    if (loop.kind === "task") return loop.fire?.token === token;
    if (loop.kind === "backlog") return loop.status === "active";
    const isForHolder = loop.session === null || loop.session === owner;
    return loop.job?.token === token || (loop.status === "active" && isForHolder);
  });
}

function decide({ facts, record, canWake }: Look): Shown {
  // The hook needs the lease only to go on: it asks a question whoever holds the lease.
  const free = routeStop({ ...facts, otherOwner: null });
  const route = free.kind === "go-on" ? routeStop(facts) : free;
  const cap = capOf(process.env);
  if (route.kind === "allow" || !canWake || !nearCap(record?.blocks ?? 0, cap)) return route;
  return {
    kind: "wake",
    message: `[LOOP] ${route.loop} goes on in a moment: the client stops after ${cap} answers without a tool call.`,
  };
}

function nextOf(goal: Goal, { record, facts }: Look): Next {
  const { job } = goal;
  if (job !== null && isTurn(job) && record?.turn?.id === job.id) return afterTurn(goal, job);
  const { job: next, pause, gate } = foresee(goal, facts.now);
  if (next !== null) return nextJob(goal, next);
  if (gate !== null) return { kind: "question", text: `the loop asks: ${gate.question}` };
  return { kind: "pause", text: `the loop pauses: ${pause?.reason ?? "nothing is left to do"}` };
}

/** Decides like the owner, on a copy. A warning is a decision of its own, so there may be several rounds. */
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

/** The stop ends the conversation's turn. */
function afterTurn(goal: Goal, { id, kind }: Job): Next {
  if (kind === "plan")
    return { kind: "turn", text: `turn ${id} ends, and the engine reads the plan from its answer` };
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
      return { kind: "turn", text: "a second agent reviews the plan" };
    case "work":
      return {
        kind: "turn",
        text: `iteration ${iterationOf(goal)}: ${currentStep(goal) ?? "the unmet criteria"}`,
      };
  }
}

function checksOf({ criteria }: Goal): string {
  return criteria.length === 0 ? "no check is set yet" : criteria.map(({ name }) => name).join(", ");
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

function rowOf(route: Shown): string {
  return route.kind === "wake" ? "near the client's limit" : route.row;
}

function renderRoute(route: Shown, look: Look, next: Next | null): readonly string[] {
  const decision =
    route.kind === "go-on"
      ? `Goes on (${route.row}): the stop is blocked, and goal ${route.loop} continues in the conversation.`
      : `Allows the stop (${rowOf(route)}): ${route.message ?? "the person sees no message."}`;
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
    `state: ${facts.broken ?? "readable"}`,
    `goal: ${goal === null ? "none" : renderGoal(goal, facts.session)}`,
    `loops here: ${facts.off ?? "on"}`,
    `lease: ${holder === null ? "no running process holds it" : renderHolder(holder)}`,
    `a person is waiting: ${facts.isSomeoneWaiting ? "yes" : "no"}`,
  ];
}

function renderHolder({ lease: { owner, pid, host }, isOurs, isKept }: Holder): string {
  const what = isKept ? ", at work" : isOurs ? "" : ", gives the lease up on request";
  return `${owner}, pid ${pid} on ${host}${what}`;
}

function renderConversation({ facts, record, isOpen }: Look): string {
  if (facts.session === "") return "none named, and no goal is bound to one";
  if (record === null) return `${facts.session}, not known in this project`;
  const turn = turnIn(record);
  const what = turn === null ? "no loop turn" : `turn ${turn}`;
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
  return `${id}, ${status}${busy}${gate === null ? "" : ", has a question"}, ${whose}`;
}
