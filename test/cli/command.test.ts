/** A command line run in this process (`runHere`), held against the real process. */
import { expect, test } from "vitest";
import { makeProject, runLoop } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

test.each([
  [["5m", "look around", "--dry-run", "--json"]],
  [["list"]],
  [["status"]],
  [["lst"]],
  [["5m", "x", "--nope"]],
  [["history", "--json", "\u009b"]],
  [["help", "until"]],
])("H5 %j has the answer and the exit code of the process", async (args) => {
  const cwd = makeProject();
  const settled = ({ stdout, ...rest }: Awaited<ReturnType<typeof runLoop>>) => ({
    ...rest,
    stdout: stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<moment>"),
  });
  expect(settled(await runHere(args, { cwd }))).toEqual(settled(await runLoop(args, { cwd })));
});

test("folder, environment and signal handlers of this process are as before", async () => {
  const cwd = makeProject();
  const here = () => [process.cwd(), { ...process.env }, process.listenerCount("SIGINT")];
  const before = here();
  const { code } = await runHere(["until", "--iterations", "0", "x"], { cwd, env: { LOOP_X: "1" } });
  expect(code).toBe(64);
  expect(here()).toEqual(before);
});
