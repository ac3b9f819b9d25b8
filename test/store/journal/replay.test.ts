/**
 * Journals that earlier versions wrote are kept under test/journals for ever and must fold to what they meant.
 * To add one: copy a real journal there, write down beside it what it says, and never touch either again.
 */

import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { viewGoal } from "../../../src/core/goal/view.ts";
import { viewTask } from "../../../src/core/task/view.ts";
import { Journal } from "../../../src/store/journal/journal.ts";
import { loopLinesIn } from "../fixtures/lines.ts";

const journals = join(import.meta.dirname, "..", "..", "journals");
const names = readdirSync(journals).filter((name) => name.endsWith(".jsonl"));

test.each(names)("A13 the journal %s of an earlier version replays to what it meant", (name) => {
  const dir = mkdtempSync(join(tmpdir(), "loopwright-replay-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  copyFileSync(join(journals, name), join(dir, "journal.jsonl"));
  const journal = new Journal(dir);
  journal.refresh();
  const tasks = [...journal.state.loops.values()].filter((loop) => loop.kind === "task");
  const goals = [...journal.state.loops.values()].filter((loop) => loop.kind === "goal");
  const outcomes = loopLinesIn(dir).flatMap((line) => line.outcomes);
  const folded = {
    lease: journal.state.lease,
    lastToken: journal.state.lastToken,
    tasks: tasks.map(viewTask),
    fires: tasks.map(({ id, fire, cursorAt }) => ({ id, fire, cursorAt })),
    outcomes,
    goals: goals.map(viewGoal),
  };
  const expected = JSON.parse(readFileSync(join(journals, name.replace(".jsonl", ".json")), "utf8"));
  expect(folded).toMatchObject(expected);
});
