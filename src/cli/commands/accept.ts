/** `loop accept`: what the agent changed of the checks themselves counts once a person has looked at it. */
import { createProtection } from "../../checks/protection/protection.ts";
import { findGoal, requestGoal } from "../../engine/goals.ts";
import { usageError } from "../../errors.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { refuseAgent } from "../person.ts";
import { openProjectToWrite } from "../project.ts";
import { printable } from "../render/table.ts";
import type { GoalFlags } from "./goal.ts";
import { liveOwner } from "./list.ts";

export async function acceptCommand(id: string | undefined, flags: GoalFlags, io: Io): Promise<number> {
  const project = openProjectToWrite(flags, io);
  const { store, root } = project;
  const goal = findGoal(store, id);
  refuseAgent(goal, "accept");
  const changes = goal.protectedChanges;
  if (changes.length === 0) {
    if (flags.json) io.json({ accepted: [] });
    else io.out(`Goal ${goal.id} changed nothing that its checks consist of.`);
    return EXIT.ok;
  }
  const protection = createProtection(root);
  const shown = [];
  for (const change of changes) shown.push({ ...change, diff: await protection.diff(goal.id, change) });
  if (!flags.json) {
    for (const { path, change, criteria, diff } of shown)
      io.out(`${change} ${printable(path)} (${criteria.map(printable).join(", ")})\n${printable(diff)}`);
  }
  if (!flags.yes && !io.interactive) {
    if (flags.json) io.json({ accepted: [], changes: shown });
    throw usageError("accept asks first; without a terminal add --yes once you have read the changes.");
  }
  if (!flags.yes && !(await confirmAccept(changes.length))) {
    io.say("Nothing was accepted.");
    return EXIT.ok;
  }
  const accepted = changes.map(({ path, hash }) => ({ path, hash }));
  const after = await requestGoal(store, goal, { type: "goal.accepted", changes: accepted }, Date.now());
  await store.publish();
  if (flags.json) io.json({ accepted, changes: shown });
  else io.out(`Accepted ${accepted.length === 1 ? "1 change" : `${accepted.length} changes`}.`);
  if (!flags.json && after.status === "active" && liveOwner(store, Date.now()) === null)
    io.say(`Go on with: loop continue ${goal.id}`);
  return EXIT.ok;
}

async function confirmAccept(count: number): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const message = `Accept ${count === 1 ? "this change" : `these ${count} changes`} of what the checks consist of?`;
  const answer = await confirm({ message, initialValue: false });
  return !isCancel(answer) && answer;
}
