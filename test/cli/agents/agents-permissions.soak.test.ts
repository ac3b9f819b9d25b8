/** What an agent asks leave for, as a person at a terminal meets it, and what becomes of it where nobody sits. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { acpWorker, answersTo, lastProcessOf, promptsTo, talkOf } from "../../support/acp/acp-worker.ts";
import { makeBacklog, passedOf, trust } from "../../support/backlog/backlog-cli.ts";
import { create, kill, leftovers, makeProject } from "../../support/cli.ts";
import { CHECK, makeRepository, runJson, SPEC, stateOf } from "../../support/goals/goal-cli.ts";
import { runHere } from "../../support/here.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

const ASKS_ONCE = acpWorker("asks=1:npm publish");
const ASKS_TWICE = acpWorker("asks=2:npm publish");
const ASKED = /◆ {2}The agent wants to run: npm publish\. Allow it\?\n│ {2}● No\n[\s\S]*└$/;
const ASKED_AGAIN =
  /◇ {2}The agent wants to run: npm publish\. Allow it\?[\s\S]*◆ {2}The agent wants to run: npm publish[\s\S]*└$/;

const untilLine = (agent: string, flags = "") =>
  `NO_COLOR=1 loop until ${flags} --check 'done=sh check.sh' --agent-acp '${agent}' '${SPEC}'; echo code=$?`;

function writeConfig(cwd: string, config: object): void {
  mkdirSync(join(cwd, ".loop"), { recursive: true });
  writeFileSync(join(cwd, ".loop", "config.json"), JSON.stringify(config));
}

describe.skipIf(!hasTmux)("at a terminal (E3)", () => {
  test("E3 yes, this once: it may, and the next time it asks again", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd, 80, 60);
    terminal.run(untilLine(ASKS_TWICE));
    const screen = await terminal.sees(ASKED);
    expect(screen).toMatch(/ No\n.* Yes, this once\n.* Yes, and do not ask again for this during the run\n/);
    terminal.keys("Down", "Enter");
    await terminal.sees(ASKED_AGAIN);
    terminal.keys("Down", "Enter");
    await terminal.sees(/<\/loop-complete>[\s\S]*code=0\n\$$/);
    expect(answersTo(cwd)).toEqual(["yes", "yes"]);
    expect(terminal.cursorIsShown()).toBe(true);
  });

  test("E3 yes for the rest of the run: this very thing is not asked again", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd, 80, 60);
    terminal.run(untilLine(acpWorker("asks=3:npm publish")));
    await terminal.sees(ASKED);
    terminal.keys("Down", "Down", "Enter");
    const screen = await terminal.sees(/<\/loop-complete>[\s\S]*code=0\n\$$/);
    expect(answersTo(cwd)).toEqual(["yes", "yes", "yes"]);
    expect(screen.match(/Allow it\?/g)).toHaveLength(1);
  });

  test("E3 no: the agent is told, the receipt says what was denied, and the loop goes on", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd, 80, 60);
    terminal.run(untilLine(ASKS_ONCE, "--iterations 1"));
    await terminal.sees(ASKED);
    terminal.keys("Enter");
    const screen = await terminal.sees(/code=3\n\$$/);
    expect(screen).toContain("denied");
    expect(answersTo(cwd)).toEqual(["no"]);
    expect(stateOf(cwd).receipts).toMatchObject([{ files: [] }]);
    const { stdout } = await runHere(["report"], { cwd });
    expect(stdout).toMatch(/iteration 1: denied: execute/);
  });

  test("E3 while the question stands nothing is drawn over it; what came meanwhile follows", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd, 80, 40);
    terminal.run(untilLine(acpWorker("chatty", "asks=1:npm publish")));
    await terminal.sees(ASKED);
    // two seconds of an agent that talks, and of a clock that counts
    await until(() => talkOf(cwd) > 20, "it talked meanwhile", 10_000);
    expect(terminal.screen()).toMatch(ASKED);
    expect(terminal.screen()).not.toMatch(/working for|Looking around/);
    terminal.keys("Down", "Enter");
    const screen = await terminal.sees(/<\/loop-complete>[\s\S]*code=0\n\$$/);
    expect(screen).toContain("Looking around");
  });

  test("B16 Ctrl-C at the question stops the loop with 130, as anywhere", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd, 80, 40);
    terminal.run(untilLine(ASKS_ONCE));
    await terminal.sees(ASKED);
    terminal.keys("C-c");
    await terminal.sees(/⏸ Paused: stopped by a person \(SIGINT\)[\s\S]*code=130\n\$$/);
    expect(answersTo(cwd)).not.toContain("yes");
    expect(promptsTo(cwd)).toHaveLength(1);
    expect(terminal.cursorIsShown()).toBe(true);
  });

  test("B16 loop cancel from elsewhere takes the question away", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd, 80, 40);
    terminal.run(untilLine(ASKS_ONCE));
    await terminal.sees(ASKED);
    expect((await runHere(["cancel"], { cwd })).code).toBe(0);
    await terminal.sees(/\[LOOP\] Cancelled: cancelled by a person\ncode=130\n\$$/);
    expect(answersTo(cwd)).not.toContain("yes");
    expect(terminal.cursorIsShown()).toBe(true);
  });

  test("E3 an agent that dies at its question takes it along, and asks anew when it is back", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd, 80, 60);
    terminal.run(untilLine(ASKS_ONCE));
    await terminal.sees(ASKED);
    kill(lastProcessOf(cwd));
    await terminal.sees(/killed by SIGKILL[\s\S]*◆ {2}The agent wants to run: npm publish[\s\S]*└$/, 20_000);
    terminal.keys("Down", "Enter");
    await terminal.sees(/<\/loop-complete>[\s\S]*code=0\n\$$/);
    expect(answersTo(cwd)).toEqual(["yes"]);
  });

  test("E3 loop up asks too, over its list, with the same answers", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "look around");
    const terminal = openTerminal(cwd, 90, 40);
    terminal.run(`NO_COLOR=1 loop up --agent-acp '${ASKS_TWICE}'; echo code=$?`);
    await terminal.sees(ASKED);
    terminal.keys("Down", "Down", "Enter");
    await terminal.sees(/I did it\.[\s\S]*✓ ok/);
    expect(answersTo(cwd)).toEqual(["yes", "yes"]);
    terminal.keys("C-c");
    await terminal.sees(/Stopped\. The task stays[\s\S]*code=0\n\$$/);
  });

  test("E3 Ctrl-C at a question of loop up stops the runner", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "look around");
    const terminal = openTerminal(cwd, 90, 40);
    terminal.run(`NO_COLOR=1 loop up --agent-acp '${ASKS_ONCE}'; echo code=$?`);
    await terminal.sees(ASKED);
    terminal.keys("C-c");
    await terminal.sees(/Stopped\. The task stays[\s\S]*code=0\n\$$/);
    expect(terminal.cursorIsShown()).toBe(true);
  });

  test("E3 loop run asks too", async () => {
    const cwd = makeProject();
    const { id } = await create(cwd, "5m", "look around", "--no-now");
    const terminal = openTerminal(cwd, 90, 40);
    terminal.run(`NO_COLOR=1 loop run ${id} --agent-acp '${ASKS_ONCE}'; echo code=$?`);
    await terminal.sees(ASKED);
    terminal.keys("Down", "Enter");
    await terminal.sees(/I did it\.[\s\S]*code=0\n\$$/);
    expect(answersTo(cwd)).toEqual(["yes"]);
  });

  test("E3 C13 two stories at once ask one after the other", async () => {
    const stories = [1, 2].map((n) => ({ n, dependsOn: [] }));
    const cwd = makeBacklog({ stories, check: (n) => `test -f US-00${n}.txt` });
    await trust(cwd);
    const terminal = openTerminal(cwd, 100, 60);
    terminal.run(`NO_COLOR=1 loop backlog run --parallel 2 --agent-acp '${ASKS_ONCE}'; echo code=$?`);
    await terminal.sees(ASKED, 20_000);
    await until(() => promptsTo(cwd).length === 2, "both are in their turns", 20_000);
    expect(terminal.screen().match(/◆/g)).toHaveLength(1);
    terminal.keys("Down", "Enter");
    await terminal.sees(ASKED_AGAIN, 20_000);
    terminal.keys("Down", "Enter");
    await terminal.sees(/code=0\n\$$/, 30_000);
    expect(answersTo(cwd)).toEqual(["yes", "yes"]);
    expect(passedOf(cwd)).toEqual(["US-001", "US-002"]);
  }, 90_000);
});

describe.skipIf(!hasTmux)("a terminal that is closed at the question (E3)", () => {
  test.each([
    ["loop until", untilLine(ASKS_ONCE)],
    ["loop backlog run", `loop backlog run --agent-acp '${ASKS_ONCE}'`],
  ])("E3 %s: nobody can answer any more, so it ends, and nothing is left", async (what, line) => {
    const stories = [{ n: 1, dependsOn: [] }];
    const isGoal = what === "loop until";
    const cwd = isGoal ? makeRepository() : makeBacklog({ stories, check: () => "test -f US-001.txt" });
    if (!isGoal) await trust(cwd);
    const terminal = openTerminal(cwd, 100, 40);
    terminal.run(line);
    await terminal.sees(ASKED, 20_000);
    terminal.close();
    await until(() => leftovers(cwd).length === 0, "all of it is gone", 10_000);
    expect(answersTo(cwd)).not.toContain("yes");
  });
});

describe("where nobody sits (E3)", () => {
  test("E3 B13 it is denied, the agent is told so, and receipt and report say what", async () => {
    const cwd = makeRepository();
    const args = ["until", "--yes", "--iterations", "1", ...CHECK, "--agent-acp", ASKS_ONCE, SPEC];
    const { code, lines } = await runJson(args, { cwd });
    expect([code, answersTo(cwd)]).toEqual([3, ["no"]]);
    expect(lines).toContainEqual(
      expect.objectContaining({
        type: "agent",
        event: expect.objectContaining({ type: "permission", answer: "denied" }),
      }),
    );
    const { stdout } = await runHere(["report"], { cwd });
    expect(stdout).toMatch(/iteration 1: denied: execute/);
  });

  test("H2 a rule that allows counts only after loop trust, which shows it", async () => {
    const cwd = makeRepository();
    writeConfig(cwd, { permissions: { execute: { "npm *": "allow" }, fetch: "deny" } });
    const args = ["until", "--yes", "--iterations", "1", ...CHECK, "--agent-acp", ASKS_ONCE, SPEC];
    await runJson(args, { cwd });
    expect(answersTo(cwd)).toEqual(["no"]);
    await runHere(["cancel"], { cwd });
    const seen = await runHere(["trust"], { cwd });
    expect([seen.code, seen.stdout]).toEqual([64, expect.stringMatching(/execute npm \*/)]);
    expect(seen.stdout).not.toContain("fetch");
    await trust(cwd);
    const { end } = await runJson(args, { cwd });
    expect({ status: end.status, answers: answersTo(cwd) }).toEqual({
      status: "done",
      answers: ["no", "yes"],
    });
    // another content is another file
    writeConfig(cwd, { permissions: { execute: "allow" } });
    expect((await runHere(["trust"], { cwd })).code).toBe(64);
  });

  test("H2 a rule that denies counts at once, and asks nobody", async () => {
    const cwd = makeRepository();
    writeConfig(cwd, { permissions: { execute: { "*": "allow", "npm publish*": "deny" } } });
    await trust(cwd);
    const args = ["until", "--yes", "--iterations", "1", ...CHECK, "--agent-acp", ASKS_ONCE, SPEC];
    await runJson(args, { cwd });
    expect(answersTo(cwd)).toEqual(["no"]);
  });

  test("E3 the commands of the checks need no leave", async () => {
    const cwd = makeRepository();
    const agent = acpWorker("asks=1:sh check.sh");
    const { end } = await runJson(["until", "--yes", ...CHECK, "--agent-acp", agent, SPEC], { cwd });
    expect({ status: end.status, answers: answersTo(cwd) }).toEqual({ status: "done", answers: ["yes"] });
  });
});
