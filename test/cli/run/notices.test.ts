/** Every kind of run tells the person by their own command (A18): what ended, what paused, what waits for them. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  agentOf,
  besideOf,
  makeBacklog,
  runArgs,
  runBacklogJson,
  trust,
} from "../../support/backlog/backlog-cli.ts";
import { runLoop } from "../../support/cli.ts";
import { makeAgent, makeRepository } from "../../support/goals/goal-cli.ts";
import { until } from "../../support/until.ts";

vi.setConfig({ testTimeout: 60_000 });

const NOTIFY = ["--notify-cmd", `printf '%s: %s\\n' "$LOOP_TITLE" "$LOOP_BODY" >> ../told`] as const;

/** The command outlives the runner, which does not wait for it. */
async function told(cwd: string, count: number): Promise<readonly string[]> {
  const file = join(dirname(cwd), "told");
  const read = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []);
  await until(() => read().length >= count, `${count} notices are told`);
  return read();
}

async function backlogOf(count: number): Promise<string> {
  const stories = Array.from({ length: count }, (_, index) => ({ n: index + 1, dependsOn: [] }));
  const cwd = makeBacklog({ stories, check: (n) => `test -e src/f${n}.mjs` });
  await trust(cwd);
  return cwd;
}

describe("A18 a backlog", () => {
  test("that is done says so", async () => {
    const cwd = await backlogOf(1);
    const run = await runBacklogJson(runArgs(agentOf(cwd), ...NOTIFY), besideOf(cwd));
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(await told(cwd, 1)).toEqual([expect.stringMatching(/^Backlog \w{8} is done: /)]);
    expect(run.lines.filter(({ type }) => type === "notify")).toHaveLength(1);
  });

  test("that pauses says why, and how it goes on", async () => {
    const cwd = await backlogOf(1);
    const run = await runLoop(runArgs(agentOf(cwd, "exit 77"), ...NOTIFY), besideOf(cwd));
    expect(run.code, run.stdout + run.stderr).toBe(1);
    expect(await told(cwd, 1)).toEqual([
      expect.stringMatching(/^Backlog \w{8} is paused: .*Go on with: loop backlog run --resume$/),
    ]);
  });

  test("with a blocked story names it while the run goes on, then its end", async () => {
    const cwd = await backlogOf(1);
    const lazy = agentOf(
      cwd,
      'if [ "$LOOP_ROLE" = generator ]; then echo made; date > src/wrong.mjs; else pass; fi',
    );
    const run = await runBacklogJson(runArgs(lazy, ...NOTIFY), besideOf(cwd));
    expect(run.end.status, run.stdout + run.stderr).toBe("blocked");
    expect(await told(cwd, 2)).toEqual([
      expect.stringMatching(/^Backlog \w{8} has a blocked story: US-001 needs human review: /),
      expect.stringMatching(/^Backlog \w{8} has ended: /),
    ]);
  });
});

test("A18 B14 a goal that waits at a gate says what it asks, and how to answer", async () => {
  const cwd = makeRepository();
  const agent = makeAgent(cwd, "report false");
  const colleague = ["until", "--check", "done=sh check.sh", "--agent-cmd", agent, ...NOTIFY];
  const run = await runLoop([...colleague, "make the file that the check looks for"], {
    cwd,
    env: { LOOP_SHAPE: "colleague" },
  });
  expect(run.code, run.stdout + run.stderr).toBe(6);
  expect(await told(cwd, 1)).toEqual([
    expect.stringMatching(/^Goal (\w{8}) asks: .* Answer with: loop approve \1$/),
  ]);
});
