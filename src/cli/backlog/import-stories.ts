/**
 * `loop backlog import <file>` (C1, C2, C10): imports Ralph's prd.json, a list of features, or a PRD.md with tasks.
 * It imports all stories or none, because stories may depend on each other. It archives existing stories after a yes.
 */
import { realpathSync } from "node:fs";
import { basename, resolve } from "node:path";
import { checksText } from "../../core/backlog/accepted-checks.ts";
import { problemsOf, renderStoryProblem } from "../../core/backlog/prd/dependencies.ts";
import { importPrdMarkdown } from "../../core/backlog/prd/import-prd-md.ts";
import { type ImportedBacklog, type ImportResult, importRalph } from "../../core/backlog/prd/import-ralph.ts";
import { PROGRESS_HEADER } from "../../core/backlog/progress-entry.ts";
import { countsOfStories } from "../../core/backlog/stories.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { viewStory } from "../../core/views/backlog-view.ts";
import { refuseDuringRun } from "../../engine/backlogs/backlogs.ts";
import { usageError } from "../../errors.ts";
import { type Prd, type PrdContent, parsePrd, withStories } from "../../schema/prd.ts";
import { type Replacement, replacePrd } from "../../store/files/archive.ts";
import { createFile } from "../../store/files/backlog-files.ts";
import { loadPrd, prdPath } from "../../store/files/prd-file.ts";
import { type Questions, terminalQuestions } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToChange, type ProjectFlags } from "../project.ts";
import { countStories, renderPlanned } from "../render/stories.ts";
import { refuseTurns } from "../run/person.ts";
import { acceptChecks, NOT_ACCEPTED, renderWritten } from "./backlog-settings.ts";
import { readGivenFile } from "./backlog-specs.ts";

export interface BacklogImportFlags extends ProjectFlags {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  /** Imports passed stories as open: the result of another tool is only a claim. */
  readonly reopen?: boolean;
}

export async function backlogImportCommand(
  file: string,
  flags: BacklogImportFlags,
  io: Io,
  questions: Questions = terminalQuestions,
): Promise<number> {
  const { root, store } = openProjectToChange(flags, io);
  refuseTurns(store, "import a backlog");
  refuseDuringRun(store);
  const { prd, remarks } = readBacklog(file, root, flags.reopen ?? false);
  const there = loadPrd(root)?.prd ?? null;
  const view = { version: 1, file: resolve(file), stories: prd.stories.map(viewStory), remarks };
  if (!flags.json) {
    io.out(renderPlanned(prd.stories));
    for (const remark of remarks) io.say(remark);
  }
  if (flags.dryRun) {
    if (flags.json) io.json({ ...view, written: false, archived: null, checksAccepted: false });
    else io.say("Nothing was written.");
    return EXIT.ok;
  }
  const isYes = await agree(prd, there, flags, io, questions);
  if (isYes === null) {
    io.say("Nothing was written.");
    return EXIT.ok;
  }
  const seen = JSON.stringify(there?.content ?? null);
  const done = await replacePrd(root, (before) => decide(before, seen, prd), Date.now());
  if (done.kind === "refused") throw usageError(done.message, done.hint);
  createFile(root, "progress.md", PROGRESS_HEADER);
  const accepted = isYes
    ? acceptChecks(root, [], prd.stories, process.env, Date.now())
    : checksText(prd.stories) === "";
  const { archived } = done;
  const wrote = renderWritten(root, prd.stories, archived);
  answer(flags, io, { ...view, written: true, archived, checksAccepted: accepted }, wrote);
  if (!accepted) io.say(NOT_ACCEPTED);
  return EXIT.ok;
}

function readBacklog(file: string, root: string, isReopened: boolean) {
  const imported = convert(file, readGiven(file, root));
  const parsed = parsePrd(imported.content);
  if (parsed.kind === "invalid") throw refused(file, named(parsed.message, imported));
  const [first, ...more] = problemsOf(parsed.prd.stories).map(renderStoryProblem);
  if (first !== undefined)
    throw refused(file, first.replace(/\.$/, ""), more.length === 0 ? null : `Also: ${more.join(" ")}`);
  const stories = parsed.prd.stories.map((story) => (isReopened ? { ...story, passes: false } : story));
  const { passed } = countsOfStories(stories);
  const claimed =
    passed === 0
      ? []
      : [`${countStories(passed)} passed according to the file only; --reopen imports them as open.`];
  return { prd: { ...parsed.prd, stories }, remarks: [...imported.remarks, ...claimed] };
}

function readGiven(file: string, root: string): string {
  const text = readGivenFile(file);
  if (realpathSync(file) === realOr(prdPath(root)))
    throw usageError(`${cleanLine(file)} is this project's backlog. Name another file.`);
  return text;
}

function convert(file: string, text: string): ImportedBacklog {
  const result = looksLikeJson(file, text) ? importJson(text) : importPrdMarkdown(text);
  if (result.kind === "refused") throw refused(file, result.message);
  return result;
}

function looksLikeJson(file: string, text: string): boolean {
  if (/\.(?:md|markdown)$/i.test(file)) return false;
  return /\.json$/i.test(file) || /^\uFEFF?\s*[[{]/.test(text);
}

function importJson(text: string): ImportResult {
  try {
    return importRalph(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch (error) {
    return { kind: "refused", message: `not JSON: ${(error as Error).message}` };
  }
}

/** Puts the story's id before `userStories[2].title: …`. */
function named(message: string, { content }: ImportedBacklog): string {
  const [, index] = /^userStories\[(\d+)\]/.exec(message) ?? [];
  const id = index === undefined ? undefined : content.userStories[Number(index)]?.id;
  return typeof id === "string" ? `${cleanLine(id)}: ${message}` : message;
}

function refused(file: string, message: string, hint: string | null = null): Error {
  return usageError(`${basename(file)} cannot be imported: ${message}.`, hint ?? "Nothing was written.");
}

/** true: a person said yes; false: no question was needed, because there was no backlog; null: no. */
async function agree(
  { stories }: Prd,
  there: Prd | null,
  flags: BacklogImportFlags,
  io: Io,
  questions: Questions,
): Promise<boolean | null> {
  if (flags.yes) return true;
  const old = there?.stories.length ?? 0;
  if (io.interactive && !flags.json) {
    const instead = old === 0 ? "" : ` and archive the existing ${countStories(old)}`;
    return (await questions.confirm(`Write ${countStories(stories.length)}${instead}?`)) ? true : null;
  }
  if (old > 0)
    throw usageError(
      `There is already a backlog with ${countStories(old)}, and the import would archive it.`,
      "Nothing was written. To go ahead without a terminal, add --yes.",
    );
  return false;
}

/** Refuses when the backlog is not the one that the person saw. */
function decide(before: Prd | null, seen: string, prd: Prd): Replacement {
  if (JSON.stringify(before?.content ?? null) !== seen)
    return {
      kind: "refused",
      message: "The backlog was changed since it was read.",
      hint: "Nothing was written; try again.",
    };
  return { kind: "replace", content: contentOf(prd, before), archive: (before?.stories.length ?? 0) > 0 };
}

/** Keeps the header of a backlog that has no stories yet. */
function contentOf(prd: Prd, before: Prd | null): PrdContent {
  const header = before === null || before.stories.length > 0 ? {} : before.content;
  const said = Object.entries(prd.content).filter(([, value]) => value !== "" && value !== null);
  const names = { project: "", branchName: "", description: "", ...header, ...Object.fromEntries(said) };
  const content: PrdContent = { ...names, userStories: prd.content.userStories };
  return withStories({ ...prd, content }, prd.stories);
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
