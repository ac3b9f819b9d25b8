/** `loop pause` and `loop cancel` for a backlog. */
import { countsOfStories } from "../../core/backlog/stories.ts";
import { openBacklog } from "../../engine/backlogs/backlogs.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import { requestEvent } from "../../engine/tasks/tasks.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToChange, type ProjectFlags } from "../project.ts";
import { refuseTurns } from "../run/person.ts";

const STOPS = {
  pause: {
    event: { type: "backlog.paused", code: "person", reason: "paused by a person" },
    done: "Paused",
    next: "Go on with: loop backlog run --resume",
  },
  cancel: {
    event: { type: "backlog.cancelled", reason: "cancelled by a person" },
    done: "Cancelled",
    next: "Passed stories stay passed.",
  },
} as const;

/** null: the person means a goal, not the backlog. */
export async function stopBacklog(
  how: "pause" | "cancel",
  id: string | undefined,
  flags: ProjectFlags,
  io: Io,
): Promise<number | null> {
  const { store } = openProjectToChange(flags, io);
  const backlog = openBacklog(store);
  const isNamed = id !== undefined && backlog?.id.startsWith(id.toLowerCase()) === true;
  const isOnly = id === undefined && !allGoals(store).some(({ status }) => status !== "ended");
  if (backlog === null || (!isNamed && !isOnly)) return null;
  refuseTurns(store, `${how} it`);
  const { event, done, next } = STOPS[how];
  const { id: loop, status, stories } = await requestEvent(store, backlog, event, Date.now());
  await store.published?.publish();
  const { passed, total } = countsOfStories(stories);
  const text = `${done} backlog ${loop}, ${passed}/${total} stories complete. ${next}`;
  return answer(flags, io, { loop, status, passed, total }, text);
}
