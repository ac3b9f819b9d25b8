/** The first minute: no key, no network, no agent, no `loop` on the PATH, and nothing left behind. */
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeProject, type Project } from "../../fixtures/agents/project.ts";
import { runLoop, startLoop } from "../../support/cli.ts";
import { until } from "../../support/until.ts";

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

test.each([["SIGINT"], ["SIGTERM"]] as const)(
  "E4 H1 %s ends it with all that it started, and its folder",
  async (signal) => {
    const demo = startLoop(["demo"], options());
    await demo.line(/· Edit src/);
    expect(project.processes()).not.toEqual([]);
    demo.signal(signal);
    expect(await demo.ended).toBe(130);
    expect([project.processes(), readdirSync(tmp), demo.output.stderr]).toEqual([[], [], ""]);
    expect(demo.output.stdout).not.toContain("Iteration 2");
  },
);

test("E4 H1 its agent ends with it, however it ends", async () => {
  const demo = startLoop(["demo"], options());
  await demo.line(/· Edit src/);
  demo.signal("SIGKILL");
  await demo.ended;
  await until(() => project.processes().length === 0, "no process of it is left");
});

test("E4 loop demo-agent takes no words", async () => {
  const { code, stdout, stderr } = await runLoop(["demo-agent", "now"], options());
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
});
