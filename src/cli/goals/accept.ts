/** `loop accept`: a person reviews and accepts changes to files that the checks depend on. */
import { createProtection } from "../../checks/protection/protection.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { cleanLine, cleanText } from "../../core/text/clean.ts";
import { count } from "../../core/text/figures.ts";
import { requestGoal } from "../../engine/goals/goals.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { usageError } from "../../errors.ts";
import type { Protection } from "../../ports/checks.ts";
import { confirmInTerminal } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { needPerson } from "../run/person.ts";
import { type GoalFlags, openGoal } from "./goal.ts";

export async function acceptCommand(id: string | undefined, flags: GoalFlags, io: Io): Promise<number> {
  const { project, goal } = openGoal(id, flags, io);
  const { store, root } = project;
  needPerson(store, "accept", io);
  const changes = goal.protectedChanges;
  if (changes.length === 0)
    return answer(flags, io, { accepted: [] }, `Goal ${goal.id} changed no file that its checks depend on.`);
  const protection = createProtection(root);
  await refuseChangedSince(protection, goal);
  const shown = [];
  for (const change of changes) shown.push({ ...change, diff: await protection.diff(goal.id, change) });
  if (!flags.json) {
    for (const { path, change, criteria, diff } of shown)
      io.out(`${change} ${cleanLine(path)} (${criteria.map(cleanLine).join(", ")})\n${cleanText(diff)}`);
  }
  if (!flags.yes && !io.interactive) {
    if (flags.json) io.json({ accepted: [], changes: shown });
    throw usageError(
      "`loop accept` asks first, but there is no terminal.",
      "Read the changes, then write: loop accept --yes",
    );
  }
  const what = changes.length === 1 ? "this change" : `these ${changes.length} changes`;
  if (!flags.yes && !(await confirmInTerminal(`Accept ${what} to files that the checks depend on?`))) {
    io.say("Nothing was accepted.");
    return EXIT.ok;
  }
  // files may have changed while the person was reading
  await refuseChangedSince(protection, goal);
  const accepted = changes.map(({ path, hash }) => ({ path, hash }));
  const after = await requestGoal(store, goal, { type: "goal.accepted", changes: accepted }, Date.now());
  await store.published?.publish();
  answer(flags, io, { accepted, changes: shown }, `Accepted ${count(accepted.length, "change")}.`);
  if (!flags.json && after.status === "active" && liveOwner(store, Date.now()) === null)
    io.say(`Continue with: loop continue ${goal.id}`);
  return EXIT.ok;
}

/** Only the compared content can be accepted. Changed content must be compared and reviewed again. */
async function refuseChangedSince(protection: Protection, goal: Goal): Promise<void> {
  const { id, baseline, criteria, mustNot, policy, protectedChanges } = goal;
  const { protect, allowChanges } = policy;
  const rules = { criteria, mustNot, protect, allowChanges };
  const now = await protection.compare(id, baseline?.protectedDigest ?? "", rules);
  if (now.kind === "tampered")
    throw usageError(
      `Somebody tampered with the record of the protected files: ${now.reason}.`,
      `End this goal with: loop cancel ${id}`,
    );
  const hashes = new Map(now.changes.map(({ path, hash }) => [path, hash]));
  const other = protectedChanges.filter(({ path, hash }) => hashes.get(path) !== hash);
  if (other.length > 0)
    throw usageError(
      `${other.map(({ path }) => path).join(", ")} ${other.length === 1 ? "was" : "were"} changed again after the checks ran; nothing was accepted.`,
      `Compare the files again with: loop continue ${id}`,
    );
}
