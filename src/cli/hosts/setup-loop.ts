/** `loop setup-loop | teardown-loop`: binds a goal to a conversation by hand, and cancels it (D12). */
import type { Goal } from "../../core/goal/goal.ts";
import { ownerOf, sessionOf } from "../../core/session.ts";
import { viewGoal } from "../../core/views/goal-view.ts";
import { requestGoal } from "../../engine/goals/goals.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { EXIT } from "../exit-codes.ts";
import { type GoalFlags, goalNow, openGoal, settleIfOrphaned } from "../goals/goal.ts";
import { type UntilFlags, untilCommand } from "../goals/until.ts";
import { answer, type Io } from "../io.ts";
import { openProject, type Project } from "../project.ts";
import { refuseTurns } from "../run/person.ts";
import { parseSessionFlag } from "./route.ts";

/** Does not run the goal: it continues at the next stop of that conversation. */
export async function setupLoopCommand(words: string[], flags: UntilFlags, io: Io): Promise<number> {
  const session = parseSessionFlag(flags.session);
  const owner = ownerOf(session);
  const { store } = openProject(flags, io);
  refuseTurns(store, "set a loop up");
  const code = await untilCommand(words, { ...flags, session: owner, detach: true }, io);
  if (code !== EXIT.ok || flags.dryRun || flags.json) return code;
  io.out(`The goal is bound to ${owner}. It continues when that conversation stops.`);
  if (store.sessions.isOver(owner))
    io.say(
      `No open conversation with this id is known in this project. See: loop route --session ${session}`,
    );
  return code;
}

/** Cancels at once, even while the conversation is open. The state stays. */
export async function teardownLoopCommand(id: string | undefined, flags: GoalFlags, io: Io): Promise<number> {
  const { project, goal } = openGoal(id, flags, io);
  const { store } = project;
  refuseTurns(store, "tear a loop down");
  const event = { type: "goal.cancelled", reason: "torn down by a person" } as const;
  const cancelled = await requestGoal(store, goal, event, Date.now());
  const turn = forgetTurn(project, goal);
  await settleIfOrphaned(project, cancelled, io);
  await store.published?.publish();
  const removed = turn === null ? "" : `\nRemoved turn ${turn} from ${goal.session ?? "the conversation"}.`;
  const text = `Cancelled goal ${goal.id}. Its state is kept: loop report ${goal.id}${removed}`;
  return answer(flags, io, { ...viewGoal(goalNow(project, cancelled)), forgotten: turn }, text);
}

/** The turn that was removed from the conversation's record; null: there was none. */
function forgetTurn({ store }: Project, { id, session: owner }: Goal): string | null {
  // a conversation that holds the lease drops a cancelled turn itself
  if (owner === null || liveOwner(store, Date.now())?.owner === owner) return null;
  const record = store.sessions.read(sessionOf(owner) ?? "");
  if (record === null || record.turn?.loopId !== id) return null;
  store.sessions.write({ ...record, turn: null });
  return record.turn.id;
}
