/**
 * The files of a backlog while it runs: prd.json, which is the engine's as long as an agent works, the prompts, and
 * progress.md. What an agent writes into prd.json is put back; what was there before it is kept beside the engine's
 * own keys, since people keep more in that file than the engine knows.
 */
import { appendFileSync } from "node:fs";
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
import { errorCode, readIfThere, writeAtomic } from "../../system/files.ts";
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
  /** The text as the engine wrote it last: everything in it that is not ours is taken from here. */
  let written: string | null = null;
  /** As they were before any agent worked: a generator must not tell its judge what to say. */
  let prompts: Readonly<Record<PromptRole, PromptTexts>> | null = null;
  const lock = join(root, ".loop", "prd.lock.tmp");
  /** Its checksum, for whoever comes after a crash. */
  const mark = join(root, ".loop", "prd.written.tmp");

  /** false: it says what it is to say already. */
  const write = (stories: readonly Story[], from: string | null): boolean => {
    const parsed = from === null ? null : parsePrdText(from);
    if (parsed === null || parsed.kind !== "ok") return false;
    const text = renderPrd(withStories(parsed.prd, stories), from);
    const isSame = readPlain(prdPath(root)) === text;
    if (!isSame) writeAtomic(prdPath(root), text);
    // after the file: cut short between the two, the file is read, and has the engine's word
    if (readIfThere(mark) !== checksum(text)) writeAtomic(mark, checksum(text), false);
    written = text;
    return !isSame;
  };

  return {
    read(known) {
      const now = readPlain(prdPath(root));
      // nobody wrote there since the engine did: if the two differ, its last word did not reach the file
      if (now !== null && readIfThere(mark) === checksum(now)) return { stories: known };
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
      await whileLocked(lock, () => write(stories, readPlain(prdPath(root))));
    },
    putBack(stories) {
      // what stands there now is the agent's, if it is not what we wrote
      return whileLocked(lock, () => {
        // a branch that was left may have taken it along, and then git would see the journal
        if (checkLoopDir(root)) claimLoopDir(join(root, ".loop"));
        const now = readPlain(prdPath(root));
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

/** A link in its place is not the file: as if it were gone, so that the file is put there again. */
function readPlain(path: string): string | null {
  try {
    return readIfThere(path);
  } catch (error) {
    if (errorCode(error) === "ELOOP") return null;
    throw error;
  }
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

/** Once per attempt, also when a crash came between the journal and this file. */
function note(root: string, story: Story, receipt: StoryReceipt, skipEval: boolean): void {
  const { iteration, outcome, reason, at } = receipt;
  const path = progressPath(root);
  createFile(root, "progress.md", PROGRESS_HEADER);
  const passed = skipEval ? "SKIP-EVAL" : "PASS";
  const verdict = outcome === "passed" ? passed : "REJECT";
  const entry = renderProgressEntry({ story, at, iteration, verdict, reason, summary: null });
  if (!readProgressTail(root).includes(entry)) appendFileSync(path, entry);
}
