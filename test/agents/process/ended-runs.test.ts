/** Run folders of tasks that are gone: removed after a week, unless something in them still runs. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeEndedRuns } from "../../../src/agents/process/run-folder.ts";
import { bootId } from "../../../src/system/process.ts";

const DAY = 86_400_000;
const NOW = Date.now();

function makeRuns(): { project: string; runs: string } {
  const project = mkdtempSync(join(tmpdir(), "loopwright-runs-"));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  const runs = join(project, ".loop", "runs");
  mkdirSync(runs, { recursive: true });
  return { project, runs };
}

function addRun(runs: string, id: string, daysOld: number, files: Record<string, string> = {}): void {
  const folder = join(runs, id, `${id}-1`);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const at = (NOW - daysOld * DAY) / 1000;
  for (const path of [folder, join(runs, id)]) utimesSync(path, at, at);
}

test("run folders of unknown tasks are removed after a week", () => {
  const { project, runs } = makeRuns();
  addRun(runs, "00000001", 8, { "answer.txt": "old" });
  addRun(runs, "00000002", 6);
  addRun(runs, "00000003", 8);
  addRun(runs, "not-ours", 8);
  // its last run was withdrawn a moment ago
  mkdirSync(join(runs, "00000004"));
  removeEndedRuns(project, (id) => id === "00000003", NOW);
  expect(readdirSync(runs).sort()).toEqual(["00000002", "00000003", "00000004", "not-ours"]);
});

test("H1 a run folder stays while one of its processes lives", () => {
  const { project, runs } = makeRuns();
  const stat = readFileSync(`/proc/${process.pid}/stat`, "utf8").trim();
  const ticket = `pid ${process.pid}\nboot ${bootId()}\nstat ${stat}\nend\n`;
  addRun(runs, "00000001", 8, { "ticket.1": ticket });
  addRun(runs, "00000002", 8, { "ticket.1": ticket, "exit.1": "0\n" });
  removeEndedRuns(project, () => false, NOW);
  expect(readdirSync(runs)).toEqual(["00000001"]);
});

test("H4 links are not followed, and unreadable folders stay", () => {
  const { project, runs } = makeRuns();
  const other = makeRuns();
  addRun(other.runs, "00000001", 8);
  rmSync(runs, { recursive: true });
  symlinkSync(other.runs, runs);
  removeEndedRuns(project, () => false, NOW);
  expect(readdirSync(other.runs)).toEqual(["00000001"]);
  rmSync(runs);
  removeEndedRuns(project, () => false, NOW);
});
