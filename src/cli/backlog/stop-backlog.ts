/** `loop pause` and `loop cancel` for a backlog. */
import { countsOfStories } from "../../core/backlog/stories.ts";
import { openBacklog } from "../../engine/backlogs/backlogs.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import { requestEvent } from "../../engine/tasks/tasks.ts";
import { EXIT } from "../exit-codes.ts";
import { openForChange } from "../goals/goal.ts";
import type { Io } from "../io.ts";
import type { ProjectFlags } from "../project.ts";
import { refuseTurns } from "../run/person.ts";

/** null: the person means a goal, not the backlog. */
export async function stopBacklog(
  how: "pause" | "cancel",
  id: string | undefined,
  flags: ProjectFlags,
  io: Io,
): Promise<number | null> {
  const { store } = openForChange(flags, io);
  const backlog = openBacklog(store);
  const isNamed = id !== undefined && backlog?.id.startsWith(id.toLowerCase()) === true;
  const isOnly = id === undefined && !allGoals(store).some(({ status }) => status !== "ended");
  if (backlog === null || (!isNamed && !isOnly)) return null;
  refuseTurns(store, `${how} it`);
  const reason = `${how === "pause" ? "paused" : "cancelled"} by a person`;
  const event =
    how === "pause"
      ? ({ type: "backlog.paused", code: "person", reason } as const)
      : ({ type: "backlog.cancelled", reason } as const);
  const after = await requestEvent(store, backlog, event, Date.now());
  await store.published?.publish();
  const { passed, total } = countsOfStories(after.stories);
  const goOn = how === "pause" ? "Go on with: loop backlog run --resume" : "Passed stories stay passed.";
  if (flags.json) io.json({ loop: after.id, status: after.status, passed, total });
  else
    io.out(
      `${how === "pause" ? "Paused" : "Cancelled"} backlog ${after.id}, ${passed}/${total} stories complete. ${goOn}`,
    );
  return EXIT.ok;
}
