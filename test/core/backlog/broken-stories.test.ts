import { expect, test } from "vitest";
import type { Attempt, Backlog } from "../../../src/core/backlog/backlog.ts";
import { adoptStories } from "../../../src/core/backlog/pick.ts";
import { isLook, isTouched, lookAfter, takeBack } from "../../../src/core/backlog/prd/broken-stories.ts";
import type { Story } from "../../../src/core/backlog/stories.ts";
import type { Evidence } from "../../../src/core/goal/goal.ts";

const story = (id: string, passes: boolean): Story =>
  ({
    id,
    title: id,
    holdouts: [],
    checks: [`${id}=true`],
    passes,
    notes: "",
    rejections: 0,
    blocked: false,
  }) as unknown as Story;
const attempt = (worktree: string | null, red: readonly string[] = []): Attempt =>
  ({
    story: "B",
    iteration: 3,
    job: null,
    next: "generate",
    verdict: null,
    checkedTree: "t",
    diff: { tree: "t", treeBefore: "s" },
    place: { story: "B", worktree, base: null },
    evidence: Object.fromEntries(
      ["A: a", "AB: ab", "B: b"].map((name) => [name, evidence(!red.includes(name))]),
    ),
  }) as unknown as Attempt;
const evidence = (met: boolean) => ({ met, exitCode: met ? 0 : 1, timedOut: false, tail: "" }) as Evidence;
const backlog = (
  worktree: string | null,
  stories = [story("A", true), story("AB", true), story("B", false)],
) => ({ stories, receipts: [], attempts: [attempt(worktree)] }) as unknown as Backlog;

test("C5 a story that had passed and is red after another's attempt is open again, and costs no rejection", () => {
  const { stories, receipts } = takeBack(backlog(null), attempt(null, ["A: a", "B: b"]), 5);
  expect(stories.map(({ id, passes, rejections }) => [id, passes, rejections])).toEqual([
    ["A", false, 0],
    ["AB", true, 0],
    ["B", false, 0],
  ]);
  expect(stories[0]?.notes).toContain(
    "[REJECTED] it had passed, and the attempt at B broke it: A: a is not met",
  );
  expect(receipts).toMatchObject([{ story: "A", outcome: "rejected", iteration: 3, at: 5 }]);
});

test("C13 what is red in a worktree takes nothing back: nobody meets it there", () => {
  const before = backlog("w1");
  const after = takeBack(before, attempt("w1", ["A: a"]), 5);
  expect(after).toEqual({ stories: before.stories, receipts: [] });
});

test("C5 an attempt that came to nothing is looked at once more only where others may be broken", () => {
  expect(lookAfter(backlog(null), attempt(null)).map(isLook)).toEqual([true]);
  expect(lookAfter(backlog("w1"), attempt("w1"))).toEqual([]);
  expect(lookAfter(backlog(null, [story("A", false), story("B", false)]), attempt(null))).toEqual([]);
  expect(isTouched(attempt(null))).toBe(true);
  expect(isTouched({ ...attempt(null), diff: null })).toBe(true);
});

test("C5 in a run neither that a story passes nor its checks are taken from the file; that it does not, is", () => {
  const known = { stories: [story("A", false), story("B", true), story("C", true)], attempts: [] };
  const read = [
    { ...story("A", true), checks: ["A=easy"], title: "new words" },
    story("B", false),
    story("C", true),
    story("D", true),
  ];
  const taken = adoptStories(known as unknown as Backlog, read);
  expect(taken.map(({ id, passes }) => [id, passes])).toEqual([
    ["A", false],
    ["B", false],
    ["C", true],
    ["D", false],
  ]);
  expect(taken[0]).toMatchObject({ title: "new words", checks: ["A=true"] });
});
