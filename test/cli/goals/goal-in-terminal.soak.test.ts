/** Goal loops in a real terminal: questions, the countdown, the box, Ctrl-C. */
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runLoop } from "../../support/cli.ts";
import {
  makeAgent,
  makeRepository,
  SPEC,
  sleeper,
  sleepingPids,
  stateOf,
  statusOf,
  turnsOf,
  worker,
} from "../../support/goals/goal-cli.ts";
import { runHere } from "../../support/here.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

/** Scores 7: says nothing of what is not allowed. */
const COLLEAGUE = "Create done.txt in the root folder";

const untilLine = (agent: string, spec = SPEC, flags = "") =>
  `NO_COLOR=1 loop until ${flags} --check 'done=sh check.sh' --agent-cmd '${agent}' '${spec}'; echo code=$?`;

describe.skipIf(!hasTmux)("in a terminal", () => {
  test("B14 B15 G1, G2 and G3 of a colleague are asked and answered by keys; the box lines up", async () => {
    const cwd = makeRepository();
    const agent = makeAgent(
      cwd,
      "if [ -f started.txt ]; then touch done.txt; report true; else touch started.txt; report false open; fi",
    );
    const terminal = openTerminal(cwd, 100, 60);
    terminal.run(untilLine(agent, COLLEAGUE));
    const first = await terminal.sees(
      /G1: This is one step\. Proceed\?[\s\S]*◆ {2}This is one step\. Proceed\?[\s\S]*No\n└$/,
    );
    expect(first).toContain("[LOOP] Starting | Shape: Colleague (7/10)");
    expect(turnsOf(cwd)).toEqual([]);
    terminal.keys("y");
    await terminal.sees(/G2: Iteration 1 is over\. Continue\?[\s\S]*◆ {2}.*Continue\?[\s\S]*└$/);
    terminal.keys("y");
    await terminal.sees(
      /G3: All criteria met\. Confirm done\?\n {2}✓ done[\s\S]*◆ {2}All criteria met\. Confirm done\?[\s\S]*└$/,
    );
    terminal.keys("y");
    const end = await terminal.sees(/<\/loop-complete>[\s\S]*code=0\n\$$/);
    const box = end.split("\n").filter((line) => /^[╭│├╰]─? ?.*[╮│┤╯]$/.test(line));
    expect(box.length).toBeGreaterThan(5);
    // the sign in the heading is two columns wide in a terminal and one letter in the text
    const widths = new Set(box.map((line) => [...line].length + (/[🟢🟡🔴]/u.test(line) ? 1 : 0)));
    expect([...widths], end).toHaveLength(1);
    expect(terminal.cursorIsShown()).toBe(true);
    expect(turnsOf(cwd)).toHaveLength(2);
  });

  test("F1 a long turn shows for how long it has been at work, in one line that does not stay", async () => {
    const cwd = makeRepository();
    // until somebody lets it go on
    const agent = makeAgent(cwd, "while [ ! -f go ]; do sleep 0.1; done; touch done.txt; report true");
    const terminal = openTerminal(cwd, 80, 50);
    terminal.run(untilLine(agent, SPEC, "--yes"));
    await terminal.sees(/\n {2}working for [2-9]s \(Ctrl-C stops\)$/);
    writeFileSync(join(cwd, "go"), "");
    const end = await terminal.sees(/<\/loop-complete>[\s\S]*code=0\n\$$/);
    expect(end).not.toContain("working for");
  });

  test("B14 a no at G1 pauses with 6; an answer from a second terminal takes the question away", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd);
    const agent = worker(cwd);
    terminal.run(untilLine(agent, COLLEAGUE));
    await terminal.sees(/◆ {2}This is one step\. Proceed\?[\s\S]*└$/);
    terminal.keys("n");
    await terminal.sees(/⏸ Paused: a person said no to the plan\n[\s\S]*code=6\n\$$/);
    await runHere(["cancel"], { cwd });
    terminal.run(`clear; ${untilLine(agent, COLLEAGUE)}`);
    await terminal.sees(/◆ {2}This is one step\. Proceed\?[\s\S]*└$/);
    await runHere(["approve", "go"], { cwd });
    await terminal.sees(/◆ {2}All criteria met\. Confirm done\?[\s\S]*└$/);
    expect(turnsOf(cwd)[0]?.prompt).toContain("A person said yes: go");
    terminal.keys("y");
    await terminal.sees(/code=0\n\$$/);
    expect(terminal.cursorIsShown()).toBe(true);
  });

  test("B14 a no from a second terminal ends the first one with 6", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd);
    terminal.run(untilLine(worker(cwd), COLLEAGUE));
    await terminal.sees(/◆ {2}This is one step\. Proceed\?[\s\S]*└$/);
    await runHere(["reject", "too early"], { cwd });
    await terminal.sees(/⏸ Paused: a person said no to the plan: too early\n[\s\S]*code=6\n\$$/);
    expect(terminal.cursorIsShown()).toBe(true);
    expect(turnsOf(cwd)).toEqual([]);
  });

  test("B14 Ctrl-C at a question pauses with 130, and asks again at continue", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd);
    terminal.run(untilLine(worker(cwd), COLLEAGUE));
    await terminal.sees(/◆ {2}This is one step\. Proceed\?[\s\S]*└$/);
    terminal.keys("C-c");
    await terminal.sees(/⏸ Paused: stopped by a person[\s\S]*code=130\n\$$/);
    expect(terminal.cursorIsShown()).toBe(true);
    terminal.run("clear; loop continue; echo code=$?");
    await terminal.sees(/◆ {2}This is one step\. Proceed\?[\s\S]*└$/);
    terminal.keys("C-c");
    await terminal.sees(/code=130\n\$$/);
  });

  test("B17 LOOP_HEADLESS asks nothing, also where a person could answer", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd);
    terminal.run(`export LOOP_HEADLESS=1; ${untilLine(worker(cwd), COLLEAGUE)}`);
    const screen = await terminal.sees(/Answer: loop approve[\s\S]*code=6\n\$$/);
    expect(screen).not.toContain("◆");
  });

  test("B20 Ctrl-C in a turn pauses, and says how to go on; the terminal is as it was", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd);
    terminal.run(untilLine(sleeper(cwd)));
    const pids = await until(() => sleepingPids(cwd), "the agent is in its turn");
    terminal.keys("C-c");
    const screen = await terminal.sees(/code=130\n\$$/);
    const { id } = stateOf(cwd);
    expect(screen).toMatch(
      new RegExp(`⏸ Paused: stopped by a person \\(SIGINT\\)\n[\\s\\S]*Resume: loop continue ${id}\n`),
    );
    for (const pid of pids) expect(existsSync(`/proc/${pid}/cwd`), `process ${pid}`).toBe(false);
    terminal.run("clear; echo still; stty -a | grep -o ' echo '");
    await terminal.sees(/still\n *echo\n\$$/);
  });

  test("B20 a window that is closed in a turn pauses the loop and leaves no process", async () => {
    const cwd = makeRepository();
    const terminal = openTerminal(cwd);
    terminal.run(untilLine(sleeper(cwd)));
    await until(() => sleepingPids(cwd), "the agent is in its turn");
    terminal.close();
    // the pause is committed first, and the end of the stopped turn a moment later
    const isAtRest = async () => {
      const goal = await statusOf(cwd);
      return goal?.status === "paused" && goal.running === null;
    };
    await until(isAtRest, "the loop is paused and its turn has ended");
    expect(await statusOf(cwd)).toMatchObject({ pause: { code: "interrupted" }, running: null });
  });

  test("B7 accept shows the diff and asks: no is the default, yes accepts", async () => {
    const cwd = makeRepository();
    const agent = makeAgent(cwd, "echo true > check.sh", "report true");
    expect(
      (await runLoop(["until", "--check", "done=sh check.sh", "--agent-cmd", agent, SPEC], { cwd })).code,
    ).toBe(6);
    const terminal = openTerminal(cwd);
    terminal.run("NO_COLOR=1 loop accept; echo code=$?");
    const shown = await terminal.sees(
      /-test -f done\.txt\n\+true\n[\s\S]*◆ {2}Accept this change to files that the checks depend on\?[\s\S]*└$/,
    );
    expect(shown).toMatch(/\nchanged check\.sh \(done\)\n/);
    terminal.keys("Enter");
    await terminal.sees(/Nothing was accepted\.\ncode=0\n\$$/);
    expect(stateOf(cwd).accepted).toEqual([]);
    terminal.run("clear; NO_COLOR=1 loop accept; echo code=$?");
    await terminal.sees(/◆ {2}Accept this change[\s\S]*└$/);
    writeFileSync(join(cwd, "check.sh"), "exit 0\n");
    terminal.keys("y");
    await terminal.sees(
      /check\.sh was changed again after the checks ran; nothing was accepted\.[\s\S]*code=64\n\$$/,
    );
    writeFileSync(join(cwd, "check.sh"), "true\n");
    terminal.run("clear; NO_COLOR=1 loop accept; echo code=$?");
    await terminal.sees(/◆ {2}Accept this change[\s\S]*└$/);
    terminal.keys("y");
    await terminal.sees(/Accepted 1 change\.\nContinue with: loop continue \w{8}\ncode=0\n\$$/);
  });

  test("B16 cancel asks whether to keep the state; rollback asks before it changes files", async () => {
    const cwd = makeRepository();
    const agent = makeAgent(cwd, "echo half > half.txt", "report false open");
    const flags = ["--iterations", "1", "--check", "done=sh check.sh", "--agent-cmd", agent, SPEC];
    await runLoop(["until", ...flags], { cwd });
    const terminal = openTerminal(cwd);
    terminal.run("NO_COLOR=1 loop rollback 0; echo code=$?");
    await terminal.sees(/◆ {2}Restore all files to "before any work"\?[\s\S]*└$/);
    terminal.keys("n");
    await terminal.sees(/Nothing was changed\.\ncode=0\n\$$/);
    expect(existsSync(join(cwd, "half.txt"))).toBe(true);
    terminal.run("clear; NO_COLOR=1 loop cancel; echo code=$?");
    await terminal.sees(/◆ {2}Keep the state and the checkpoints of this goal\?[\s\S]*└$/);
    terminal.keys("n");
    await terminal.sees(/and deleted its state\. The project files were not changed\.\ncode=0\n\$$/);
    expect(existsSync(join(cwd, ".loop", "state.json"))).toBe(false);
    expect(existsSync(join(dirname(cwd), "my project", "half.txt"))).toBe(true);
  });
});
