/** `loop backlog triage` (C14): writes `.loop/triage/TRIAGE_BRIEF.md`. It keeps a copy of a brief that a person edited. */
import { join } from "node:path";
import {
  reasonsOf,
  renderTriageBrief,
  type TriageAttempt,
  triageOf,
} from "../../core/backlog/prompts/triage-brief.ts";
import { countsOfStories } from "../../core/backlog/stories.ts";
import { viewStory } from "../../core/views/backlog-view.ts";
import { replaceFile } from "../../store/files/backlog-files.ts";
import { ensureLoopDir } from "../../store/folder/loop-dir.ts";
import { checksum } from "../../store/journal/checksum.ts";
import { readSmall } from "../../system/files.ts";
import { answer, type Io } from "../io.ts";
import { openProject, type ProjectFlags } from "../project.ts";
import { loadBacklog } from "./show-story.ts";

const BRIEF = "triage/TRIAGE_BRIEF.md";

export async function backlogTriageCommand(
  flags: ProjectFlags,
  io: Io,
  attempts: readonly TriageAttempt[] = [],
  now: number = Date.now(),
): Promise<number> {
  const { root } = openProject(flags, io);
  const { project, stories } = loadBacklog(root);
  ensureLoopDir(root);
  const kept = keepEdited(root, now);
  const brief = replaceFile(root, BRIEF, sealed(renderTriageBrief(project, stories, attempts, now)));
  const { blocked, rejected, waiting } = triageOf(stories);
  const viewAll = (of: typeof blocked) =>
    of.map((story) => ({ ...viewStory(story), reasons: reasonsOf(story) }));
  const view = {
    version: 1,
    brief,
    kept,
    blocked: viewAll(blocked),
    rejected: viewAll(rejected),
    waiting,
    progress: countsOfStories(stories),
  };
  if (kept !== null && !flags.json) io.say(`You edited the previous brief. A copy is in ${kept}.`);
  const found =
    blocked.length + rejected.length === 0
      ? "No story needs a decision"
      : `${blocked.length} blocked, ${rejected.length} rejected and open, ${waiting.length} waiting for them`;
  return answer(flags, io, view, `${found}. Wrote ${brief}.`);
}

const SEAL = /\n<!-- loopwright ([0-9a-f]{8}) -->\n$/;

/** The checksum in the last line shows whether somebody edited the brief. */
function sealed(text: string): string {
  return `${text}\n<!-- loopwright ${checksum(text)} -->\n`;
}

/** The path of the copy; null: no brief, or nobody edited it. */
function keepEdited(root: string, now: number): string | null {
  const text = readSmall(join(root, ".loop", BRIEF));
  if (text === null) return null;
  const [seal, sum] = SEAL.exec(text) ?? [];
  if (seal !== undefined && checksum(text.slice(0, -seal.length)) === sum) return null;
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-");
  return replaceFile(root, `triage/TRIAGE_BRIEF-${stamp}.md`, text);
}
