/** `loop backlog block | unblock US-003 [reason]`: a person excludes one story, or includes it again. */
import { markBlocked, type StoryChange, unblock } from "../../core/backlog/prd/registry.ts";
import { countsOfStories, type Story } from "../../core/backlog/stories.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { viewStory } from "../../core/views/backlog-view.ts";
import { refuseDuringRun } from "../../engine/backlogs/backlogs.ts";
import { changeRegistry } from "../hosts/registry.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToChange, type ProjectFlags } from "../project.ts";
import { refuseTurns } from "../run/person.ts";
import { loadBacklog } from "./show-story.ts";

export async function backlogBlockCommand(
  how: "block" | "unblock",
  id: string,
  words: readonly string[],
  flags: ProjectFlags,
  io: Io,
): Promise<number> {
  const reason = words.join(" ");
  const project = openProjectToChange(flags, io);
  refuseTurns(project.store, `${how} a story`);
  refuseDuringRun(project.store);
  loadBacklog(project.root);
  const { story, stories } = await changeRegistry(project, null, (before) =>
    how === "block" ? markBlocked(before, id, reason) : withReason(unblock(before, id), cleanLine(reason)),
  );
  const title = cleanLine(story.title);
  const text =
    how === "block"
      ? `Blocked ${story.id}: ${title}. To undo: loop backlog unblock ${story.id}`
      : `Unblocked ${story.id}: ${title}. All its attempts are available again.`;
  const view = { version: 1, story: viewStory(story), progress: countsOfStories(stories) };
  return answer(flags, io, view, text);
}

/** The reason goes into the notes, which the next generator reads. */
function withReason(change: StoryChange, reason: string): StoryChange {
  if (change.kind === "refused" || reason === "") return change;
  const before = change.story.notes.trimEnd();
  const notes = `${before === "" ? "" : `${before}\n`}[UNBLOCKED] ${reason}`;
  const story: Story = { ...change.story, notes };
  return { ...change, story, stories: change.stories.map((one) => (one === change.story ? story : one)) };
}
