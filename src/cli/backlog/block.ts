/** `loop backlog block | unblock US-003 [reason]`: a person excludes one story, or includes it again. */
import { markBlocked, type StoryChange, unblock } from "../../core/backlog/prd/registry.ts";
import { countsOfStories, type Story } from "../../core/backlog/stories.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { viewStory } from "../../core/views/backlog-view.ts";
import { refuseDuringRun } from "../../engine/backlogs/backlogs.ts";
import { EXIT } from "../exit-codes.ts";
import { changeRegistry, openRegistry } from "../hosts/registry.ts";
import type { Io } from "../io.ts";
import type { ProjectFlags } from "../project.ts";
import { refuseTurns } from "../run/person.ts";
import { loadBacklog } from "./show-story.ts";

export async function backlogBlockCommand(
  id: string,
  words: readonly string[],
  flags: ProjectFlags,
  io: Io,
): Promise<number> {
  const reason = words.join(" ");
  const { story, stories } = await change(flags, io, "block a story", (before) =>
    markBlocked(before, id, reason),
  );
  if (flags.json) io.json({ version: 1, story: viewStory(story), progress: countsOfStories(stories) });
  else io.out(`Blocked ${story.id}: ${cleanLine(story.title)}. To undo: loop backlog unblock ${story.id}`);
  return EXIT.ok;
}

/** The reason goes into the notes, which the next generator reads. */
export async function backlogUnblockCommand(
  id: string,
  words: readonly string[],
  flags: ProjectFlags,
  io: Io,
): Promise<number> {
  const reason = cleanLine(words.join(" "));
  const { story, stories } = await change(flags, io, "unblock a story", (before) =>
    withReason(unblock(before, id), reason),
  );
  if (flags.json) io.json({ version: 1, story: viewStory(story), progress: countsOfStories(stories) });
  else io.out(`Unblocked ${story.id}: ${cleanLine(story.title)}. All its attempts are available again.`);
  return EXIT.ok;
}

function withReason(change: StoryChange, reason: string): StoryChange {
  if (change.kind === "refused" || reason === "") return change;
  const before = change.story.notes.trimEnd();
  const notes = `${before === "" ? "" : `${before}\n`}[UNBLOCKED] ${reason}`;
  const story: Story = { ...change.story, notes };
  return { ...change, story, stories: change.stories.map((one) => (one === change.story ? story : one)) };
}

async function change(
  flags: ProjectFlags,
  io: Io,
  what: string,
  decide: (stories: readonly Story[]) => StoryChange,
): Promise<Extract<StoryChange, { kind: "changed" }>> {
  const project = openRegistry(flags, io);
  refuseTurns(project.store, what);
  refuseDuringRun(project.store);
  loadBacklog(project.root);
  return changeRegistry(project, null, decide);
}
