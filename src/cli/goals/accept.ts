/** `loop accept`: what the agent changed of the checks themselves counts once a person has looked at it. */
import { createProtection } from "../../checks/protection/protection.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { cleanLine, cleanText } from "../../core/text/clean.ts";
import { requestGoal } from "../../engine/goals/goals.ts";
import { usageError } from "../../errors.ts";
import type { Protection } from "../../ports/checks.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { refuseAgent } from "../run/person.ts";
import { liveOwner } from "../tasks/list.ts";
import { type GoalFlags, openGoal } from "./goal.ts";

export async function acceptCommand(id: string | undefined, flags: GoalFlags, io: Io): Promise<number> {
  const { project, goal } = openGoal(id, flags, io);
  const { store, root } = project;
  refuseAgent(goal, "accept");
  const changes = goal.protectedChanges;
  if (changes.length === 0) {
    if (flags.json) io.json({ accepted: [] });
    else io.out(`Goal ${goal.id} changed nothing that its checks consist of.`);
    return EXIT.ok;
  }
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
    throw usageError("accept asks first; without a terminal add --yes once you have read the changes.");
  }
  if (!flags.yes && !(await confirmAccept(changes.length))) {
    io.say("Nothing was accepted.");
    return EXIT.ok;
  }
  // a person may have read for a while
  await refuseChangedSince(protection, goal);
  const accepted = changes.map(({ path, hash }) => ({ path, hash }));
  const after = await requestGoal(store, goal, { type: "goal.accepted", changes: accepted }, Date.now());
  await store.published?.publish();
  if (flags.json) io.json({ accepted, changes: shown });
  else io.out(`Accepted ${accepted.length === 1 ? "1 change" : `${accepted.length} changes`}.`);
  if (!flags.json && after.status === "active" && liveOwner(store, Date.now()) === null)
    io.say(`Go on with: loop continue ${goal.id}`);
  return EXIT.ok;
}

/** What is accepted is the content that was compared; other content has to be compared, and looked at, anew. */
async function refuseChangedSince(protection: Protection, goal: Goal): Promise<void> {
  const { id, baseline, criteria, mustNot, policy, protectedChanges } = goal;
  const { protect, allowChanges } = policy;
  const rules = { criteria, mustNot, protect, allowChanges };
  const now = await protection.compare(id, baseline?.protectedDigest ?? "", rules);
  if (now.kind === "tampered")
    throw usageError(
      `The record of the protected files was changed: ${now.reason}.`,
      `End it: loop cancel ${id}`,
    );
  const hashes = new Map(now.changes.map(({ path, hash }) => [path, hash]));
  const other = protectedChanges.filter(({ path, hash }) => hashes.get(path) !== hash);
  if (other.length > 0)
    throw usageError(
      `${other.map(({ path }) => path).join(", ")} ${other.length === 1 ? "was" : "were"} changed again since the checks ran; nothing was accepted.`,
      `Have it compared anew: loop continue ${id}`,
    );
}

async function confirmAccept(count: number): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const message = `Accept ${count === 1 ? "this change" : `these ${count} changes`} of what the checks consist of?`;
  const answer = await confirm({ message, initialValue: false });
  return !isCancel(answer) && answer;
}
