/**
 * The files of a running backlog: prd.json, the prompts and progress.md. While an agent works, only the engine may write
 * prd.json: changes by the agent are undone. Keys of prd.json that the engine does not know stay unchanged.
 */
import { join } from "node:path";
import type { StoryReceipt } from "../../core/backlog/backlog.ts";
import { problemsOf, renderStoryProblem } from "../../core/backlog/prd/dependencies.ts";
import { PROGRESS_HEADER, renderProgressEntry } from "../../core/backlog/progress-entry.ts";
import type { PromptRole, PromptTexts } from "../../core/backlog/prompts/prompt-texts.ts";
import { renderEvaluatorPrompt, renderGeneratorPrompt } from "../../core/backlog/prompts/prompts.ts";
import type { Story } from "../../core/backlog/stories.ts";
import type { FailingCheck } from "../../core/backlog/verdict.ts";
import { usageError } from "../../errors.ts";
import type { StoryFiles, StoryPromptFacts } from "../../ports/stories.ts";
import { parsePrdText, renderPrd, withStories } from "../../schema/prd.ts";
import { appendTo, readSmall, writeAtomic } from "../../system/files.ts";
import { checkLoopDir, claimLoopDir } from "../folder/loop-dir.ts";
import { whileLocked } from "../folder/write-lock.ts";
import { checksum } from "../journal/checksum.ts";
import { createFile } from "./backlog-files.ts";
import { prdPath, readPrd } from "./prd-file.ts";
import {
  analysisPath,
  progressPath,
  readAnalysis,
  readContract,
  readProgressTail,
  readPrompts,
} from "./prompt-files.ts";

export function createStoryFiles(root: string): StoryFiles {
  /** The last text that the engine wrote. The unknown keys come from here. */
  let written: string | null = null;
  /** Read before any agent works, so that a generator cannot change the prompt of its evaluator. */
  let prompts: Readonly<Record<PromptRole, PromptTexts>> | null = null;
  const lock = join(root, ".loop", "prd.lock.tmp");
  /** The checksum of the last written text, for recovery after a crash. */
  const mark = join(root, ".loop", "prd.written.tmp");

  /** false: the file has this content already, or it cannot be parsed. */
  const write = (stories: readonly Story[], from: string | null): boolean => {
    const parsed = from === null ? null : parsePrdText(from);
    if (parsed === null || parsed.kind !== "ok") return false;
    const text = renderPrd(withStories(parsed.prd, stories), from);
    const isSame = readSmall(prdPath(root)) === text;
    if (!isSame) writeAtomic(prdPath(root), text);
    // after the file: after a crash between the two writes, the file is read, and it has the engine's state
    if (readSmall(mark) !== checksum(text)) writeAtomic(mark, checksum(text), false);
    written = text;
    return !isSame;
  };

  return {
    read(known) {
      const now = readSmall(prdPath(root));
      // only the engine wrote the file: if the stories differ, its last write did not reach the file
      if (now !== null && readSmall(mark) === checksum(now)) return { stories: known };
      const state = readPrd(root);
      if (state.kind === "broken") return { problem: state.message };
      if (state.kind === "absent")
        return { problem: `There is no ${prdPath(root)}; make it with: loop backlog plan` };
      const [problem] = problemsOf(state.prd.stories);
      return problem === undefined
        ? { stories: state.prd.stories }
        : { problem: renderStoryProblem(problem) };
    },
    async publish(stories) {
      await whileLocked(lock, () => write(stories, readSmall(prdPath(root))));
    },
    putBack(stories) {
      // a text that the engine did not write comes from the agent
      return whileLocked(lock, () => {
        // a change of the branch may have removed .gitignore, and git would see the journal
        if (checkLoopDir(root)) claimLoopDir(join(root, ".loop"));
        const now = readSmall(prdPath(root));
        if (now === written) return false;
        return write(stories, written ?? now);
      });
    },
    analysis: (story) => ({ path: analysisPath(root, story), text: readAnalysis(root, story) }),
    prompt(role, facts) {
      const { mode } = facts.terms;
      prompts ??= {
        generator: readPrompts(root, "generator", mode),
        evaluator: readPrompts(root, "evaluator", mode),
      };
      return promptFor(root, role, prompts[role], facts);
    },
    note: (story, receipt, skipEval) => note(root, story, receipt, skipEval),
  };
}

function promptFor(root: string, role: PromptRole, texts: PromptTexts, facts: StoryPromptFacts): string {
  const { story, terms, iteration, nonce, dir, sha, checks, rejected, changedFiles } = facts;
  const given = {
    story,
    iteration,
    nonce,
    checks,
    mode: terms.mode,
    budget: terms.scope,
    texts,
    maxIterations: terms.maxIterations,
    loopDir: join(root, ".loop"),
    projectRoot: dir,
    preGeneratorSha: sha,
    contract: readContract(root, story.id),
    progress: readProgressTail(root),
    rejection: rejected === null ? null : { reason: rejected.reason ?? "", failing: failingOf(rejected) },
  };
  const rendered =
    role === "generator" ? renderGeneratorPrompt(given) : renderEvaluatorPrompt({ ...given, changedFiles });
  if (rendered.kind === "wrong") throw usageError(rendered.message);
  return rendered.text;
}

function failingOf({ failing }: StoryReceipt): readonly FailingCheck[] {
  return Object.entries(failing).map(([name, { exitCode, timedOut, tail }]) => ({
    name,
    tail,
    demand: null,
    result: timedOut ? "it ran out of time" : `exit ${exitCode ?? "by a signal"}`,
  }));
}

/** Adds one entry per attempt, even after a crash between the journal and this file. */
function note(root: string, story: Story, receipt: StoryReceipt, skipEval: boolean): void {
  const { iteration, outcome, reason, at } = receipt;
  const path = progressPath(root);
  createFile(root, "progress.md", PROGRESS_HEADER);
  const passed = skipEval ? "SKIP-EVAL" : "PASS";
  const verdict = outcome === "passed" ? passed : "REJECT";
  const entry = renderProgressEntry({ story, at, iteration, verdict, reason, summary: null });
  if (!readProgressTail(root).includes(entry)) appendTo(path, entry);
}
