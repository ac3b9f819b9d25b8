/** `loop rollback`: lists the checkpoints of a goal, or restores the files to one of them. */
import { createWorkspace } from "../../checks/files/workspace.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { count } from "../../core/text/figures.ts";
import { iso } from "../../core/views/moment.ts";
import { allGoals, findGoal, requestGoal } from "../../engine/goals/goals.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { usageError } from "../../errors.ts";
import { createCheckpoints } from "../../git/checkpoints/checkpoints.ts";
import { confirmInTerminal } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToChange, type Project } from "../project.ts";
import type { GoalFlags } from "./goal.ts";

/** The step is a number from the list, or the beginning of a commit. */
export async function rollbackCommand(args: readonly string[], flags: GoalFlags, io: Io): Promise<number> {
  if (args.length > 2) throw usageError("There are too many words.", "Write: loop rollback [goal] [step]");
  const project = openProjectToChange(flags, io);
  const { store, root } = project;
  const { goal, step } = readRollback(project, args);
  const checkpoints = createCheckpoints(root);
  const list = await checkpoints.list(goal.id);
  if (list.length === 0)
    throw usageError(
      `Goal ${goal.id} has no checkpoints.`,
      "Checkpoints need git and a goal that has started.",
    );
  if (step === undefined) {
    const dated = list.map((one) => ({ ...one, at: iso(one.at) }));
    const lines = dated.map(
      ({ step, label, commit, at }) =>
        `${String(step).padStart(3)}  ${commit.slice(0, 10)}  ${at}  ${cleanLine(label)}`,
    );
    answer(flags, io, dated, lines.join("\n"));
    if (!flags.json) io.say(`Restore the files with: loop rollback ${goal.id} <number>`);
    return EXIT.ok;
  }
  const numbered = list.find((one) => String(one.step) === step);
  const wanted =
    numbered ??
    list.find(({ commit }) => /^[0-9a-f]{4,}$/i.test(step) && commit.startsWith(step.toLowerCase()));
  if (wanted === undefined)
    throw usageError(
      `Goal ${goal.id} has no checkpoint ${step}.`,
      `See all checkpoints with: loop rollback ${goal.id}`,
    );
  if (goal.job !== null && liveOwner(store, Date.now()) !== null)
    throw usageError(`Goal ${goal.id} is running.`, `Pause it first with: loop pause ${goal.id}`);
  const label = cleanLine(wanted.label);
  if (!flags.yes && io.interactive && !(await confirmInTerminal(`Restore all files to "${label}"?`))) {
    io.say("Nothing was changed.");
    return EXIT.ok;
  }
  const result = await checkpoints.restore(goal.id, wanted.commit);
  if (result.kind === "refused") throw usageError(result.reason);
  if (goal.status !== "ended") {
    const { hash } = await createWorkspace(root).snapshot(goal.policy.allowChanges);
    const event = { type: "goal.rolled-back", checkpoint: wanted.commit, tree: hash } as const;
    await requestGoal(store, goal, event, Date.now());
    await store.published?.publish();
  }
  const { files, undo } = result;
  const how = undo === null ? "" : `\nUndo this with: loop rollback ${goal.id} ${undo.slice(0, 10)}`;
  const text = `Restored ${count(files.length, "file")} to "${label}".${how}`;
  return answer(flags, io, { restored: wanted.commit, files, undo }, text);
}

/** A single word is the id of a known goal, or else a step. */
function readRollback({ store }: Project, args: readonly string[]): { goal: Goal; step: string | undefined } {
  const [first, second] = args;
  if (second !== undefined) return { goal: findGoal(store, first, "any"), step: second };
  const isGoal = first !== undefined && allGoals(store).some(({ id }) => id.startsWith(first.toLowerCase()));
  if (first === undefined || (isGoal && !/^\d{1,2}$/.test(first)))
    return { goal: findGoal(store, first, "any"), step: undefined };
  return { goal: findGoal(store, undefined, "any"), step: first };
}
