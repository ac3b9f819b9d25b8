/** The whole demo, from its first lie to its proof: each run takes some seconds. */
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeProject, type Project } from "../../fixtures/agents/project.ts";
import { runLoop } from "../../support/cli.ts";

const SNAPSHOT = fileURLToPath(new URL("__snapshots__/demo.txt", import.meta.url));

let project: Project;
let tmp: string;
beforeEach(async () => {
  project = await makeProject(`it's a "folder"`);
  tmp = join(dirname(project.dir), "my tmp");
  for (const dir of [tmp, homeOf()]) mkdirSync(dir);
});
afterEach(() => project.remove());

const homeOf = () => join(dirname(project.dir), "an empty home");
const options = () => ({
  cwd: project.dir,
  env: { TMPDIR: tmp, HOME: homeOf(), LOOP_AGENT_CMD: "", NO_COLOR: "1" },
});

/** Without what is another one each time or elsewhere: ids, times, columns, what npm and Node's tests print. */
function settled(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{8}\b/g, "<goal>")
    .replaceAll(/\d+ files are protected/g, "<n> files are protected")
    .replaceAll(/exit 1: .*/g, "exit 1: <why>")
    .replaceAll(/\d+m?s \+ \d+m?s/g, "<time>")
    .replaceAll(/(4 iterations +)\d+s/g, "$1<time>")
    .replaceAll(/(?<=\S) {2,}/g, " ");
}

test("E4 F1 loop demo shows two lies, what became of them and the proof, with a real agent process", async () => {
  const { code, stdout, stderr } = await runLoop(["demo"], options());
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  await expect(settled(stdout)).toMatchFileSnapshot(SNAPSHOT);
  expect([project.processes(), readdirSync(tmp), readdirSync(project.dir)]).toEqual([[], [], []]);
});

test("E4 F1 with --json the same as data, costs to the cent", async () => {
  const { code, stdout, stderr } = await runLoop(["demo", "--json"], options());
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const receipts = events.flatMap(({ type, receipt }) => (type === "turn.end" ? [receipt] : []));
  expect(
    receipts.map(({ costUsd, inputTokens, claimedExit, files, toolCalls }) => [
      ...[costUsd, inputTokens, claimedExit],
      ...[files.length, toolCalls],
    ]),
  ).toEqual([
    [0.03, 4_000, false, 1, 1],
    [0.02, 8_000, true, 0, 0],
    [0.03, 12_000, true, 1, 1],
    [0.04, 16_000, true, 2, 2],
  ]);
  expect(events[0]).toMatchObject({ type: "loop.start", agent: { kind: "acp", command: "loop demo-agent" } });
  expect(events.at(-1)).toMatchObject({ type: "loop.end", status: "done", verdict: "SHIP", costUsd: 0.12 });
});
