/** `loop pause` and `loop cancel` of a backlog, from another process. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import {
  agentOf,
  besideOf,
  makeBacklog,
  runArgs,
  storiesOf,
  trust,
} from "../../support/backlog/backlog-cli.ts";
import { startLoop } from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";

test("C12 B16 pause and cancel stop the agent at once, from anywhere, and what has passed stands", async () => {
  const cwd = makeBacklog({ stories: [1, 2].map((n) => ({ n, dependsOn: [] })) });
  await trust(cwd);
  const agent = agentOf(cwd, `echo $$ > "$BESIDE/began"; tail -f /dev/null`);
  const options = besideOf(cwd);
  expect(await runHere(["cancel"], options)).toMatchObject({ code: 64 });
  const run = startLoop([...runArgs(agent)], options);
  await until(() => existsSync(join(dirname(cwd), "began")), "the generator is at work");
  const status = await runHere(["status"], options);
  expect(status.stdout).toMatch(
    /^Backlog [0-9a-f]{8}: 0\/2 stories complete, iteration 1 of \d+\n {2}working on US-001 \(generate\)$/m,
  );
  const paused = await runHere(["pause"], options);
  expect(paused.stdout).toMatch(
    /^Paused backlog [0-9a-f]{8}, 0\/2 stories complete\. Go on with: loop backlog run --resume/,
  );
  expect(await run.ended).toBe(130);
  expect(JSON.parse((await runHere(["status", "--json"], options)).stdout)).toMatchObject({
    backlog: { status: "paused", total: 2, passed: 0, working: [] },
  });
  const cancelled = await runHere(["cancel"], options);
  expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining("Cancelled backlog") });
  expect(storiesOf(cwd).map(({ passes }) => passes)).toEqual([false, false]);
  expect(await runHere(["cancel"], options)).toMatchObject({ code: 64 });
}, 60_000);
