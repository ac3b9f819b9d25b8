/** A backlog that runs in one process, seen from others: in the list, by its id, and what its agent is doing now. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openObserver } from "../../../src/compose/observe.ts";
import { openStore } from "../../../src/compose/open-store.ts";
import type { AgentEvent } from "../../../src/ports/agent.ts";
import { listSchema, loopViewSchema } from "../../../src/schema/views.ts";
import { agentOf, besideOf, makeBacklog, runArgs, trust } from "../../support/backlog/backlog-cli.ts";
import { runLoop, startLoop } from "../../support/cli.ts";
import { until } from "../../support/until.ts";

test("F1 F7 a running backlog is in the list, in show and in the observer, with its agent's words", async () => {
  const cwd = makeBacklog({ stories: [1, 2].map((n) => ({ n, dependsOn: [] })) });
  await trust(cwd);
  const agent = agentOf(cwd, `echo "I read the story"; echo $$ > "$BESIDE/began"; tail -f /dev/null`);
  const options = besideOf(cwd);
  const run = startLoop([...runArgs(agent)], options);
  await until(() => existsSync(join(dirname(cwd), "began")), "the generator is at work");

  const list = JSON.parse((await runLoop(["list", "--json"], options)).stdout);
  expect(listSchema.parse(list)).toEqual(list);
  expect(list.backlogs).toMatchObject([{ state: "working", passed: 0, total: 2, stories: ["US-001"] }]);
  const [{ id }] = list.backlogs;
  expect((await runLoop(["list"], options)).stdout).toMatch(
    /BACKLOG +STATE +ITERATION +STORIES +WORKING ON\n/,
  );

  const shown = JSON.parse((await runLoop(["show", id.slice(0, 4), "--json"], options)).stdout);
  expect(loopViewSchema.parse(shown)).toEqual(shown);
  expect(shown).toMatchObject({ kind: "backlog", id, turns: [{ kind: "generate", story: "US-001" }] });

  const store = openStore(join(cwd, ".loop"), { now: Date.now, say: () => {} });
  const observer = openObserver({ root: cwd, store });
  const turn = { loopId: id, turnId: shown.turns[0].id };
  const told: AgentEvent[] = [];
  for await (const page of observer.activity(turn, { signal: AbortSignal.timeout(20_000) })) {
    told.push(...page.events);
    break;
  }
  expect(told).toContainEqual({ type: "text", text: "I read the story" });

  await runLoop(["cancel"], options);
  await run.ended;
}, 60_000);
