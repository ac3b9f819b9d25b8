/** In a real terminal: questions, the foreground runner, the live list. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, historyOf, listOf, makeProject, startLoop } from "../../support/cli.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

describe.skipIf(!hasTmux)("in a terminal", () => {
  test("A4 loop 5m becomes the runner; Ctrl-C ends it, and it says that the task stays", async () => {
    const cwd = makeProject();
    const terminal = openTerminal(cwd);
    terminal.run("loop 5m check the deploy --agent-cmd cat");
    const screen = await terminal.sees(/✓ ok[\s\S]*Ctrl-C stops$/);
    expect(screen).toMatch(/Created \w{8}: Every 5 minutes/);
    expect(screen).toMatch(/▶ fire {2}\w{8} {2}\(initial\) check the deploy/);
    expect(screen).toMatch(
      /ID +SCHEDULE +NEXT +LAST +PROMPT\n\w{8} {2}Every 5 minutes {2}\d\d:\d\d:\d\d \(in .*\)/,
    );
    expect(screen).toMatch(/loop:1 · agent: command {2}Ctrl-C stops$/);
    expect(screen).not.toContain("Nothing runs it yet");
    terminal.keys("C-c");
    await terminal.sees(/Stopped\. The task stays; nothing runs until you start `loop up` again\.\n\$$/);
    expect(await listOf(cwd)).toMatchObject({ owner: null, tasks: [{ prompt: "check the deploy" }] });
  });

  test("A4 A11 with another runner alive it says so and returns; --detach returns as well", async () => {
    const cwd = makeProject();
    const terminal = openTerminal(cwd);
    terminal.run("loop 5m first --detach");
    await terminal.sees(/Nothing runs it yet\. To run it, start in this folder: loop up\n\$$/);
    const up = startLoop(["up", "--agent-cmd", "cat"], { cwd });
    await up.line(/✓ ok/);
    terminal.run("clear; loop 5m second --agent-cmd cat");
    await terminal.sees(/runner:\d+\.\w+ runs it\.\n\$$/);
    await up.line(/\(initial\) second/);
  });

  test("H5 A4 no agent: said before anything is written", async () => {
    const cwd = makeProject();
    const terminal = openTerminal(cwd);
    terminal.run("loop 5m x; echo code=$?; ls -A");
    const screen = await terminal.sees(/code=1\n\$$/);
    expect(screen).toContain("No agent was found");
  });

  test("A3 clear asks: n changes nothing, y deletes all", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "one", "--no-now");
    await create(cwd, "5m", "two", "--no-now");
    const terminal = openTerminal(cwd);
    terminal.run("loop clear");
    await terminal.sees(/Delete all 2 tasks\?[\s\S]*No/);
    terminal.keys("n");
    await terminal.sees(/Nothing was deleted\.\n\$$/);
    expect((await listOf(cwd)).tasks).toHaveLength(2);
    terminal.run("clear; loop clear");
    await terminal.sees(/Delete all 2 tasks\?[\s\S]*No/);
    terminal.keys("y");
    await terminal.sees(/Deleted all 2 tasks\.\n\$$/);
    expect((await listOf(cwd)).tasks).toEqual([]);
  });

  test("A10 a missed one-shot is a question: y runs it, n drops it", async () => {
    const cwd = makeProject();
    const first = await create(cwd, "in", "1s", "call the customer", "--grace", "100ms", "--no-jitter");
    const second = await create(cwd, "in", "1s", "write the mail", "--grace", "100ms", "--no-jitter");
    await until(() => Date.now() > Date.parse(second.nextFireAt ?? "") + 300, "they have passed");
    const terminal = openTerminal(cwd);
    terminal.run("loop up --agent-cmd cat");
    await terminal.sees(new RegExp(`Task ${first.id} was due while nothing ran\\. Run it now\\?`));
    terminal.keys("y");
    await terminal.sees(new RegExp(`Task ${second.id} was due while nothing ran\\. Run it now\\?`));
    terminal.keys("n");
    await terminal.sees(/✓ ok[\s\S]*No tasks yet/);
    const rows = await historyOf(cwd, first.id);
    expect(rows.map(({ outcome }) => outcome)).toEqual(["missed", "ok"]);
    expect((await listOf(cwd)).tasks).toEqual([]);
  });

  test("A9 --session: the task lives with its runner and is nowhere after it", async () => {
    const cwd = makeProject();
    const terminal = openTerminal(cwd);
    terminal.run("loop 5m --session just for now --agent-cmd cat");
    await terminal.sees(/Every 5 minutes \(session\)[\s\S]*Ctrl-C stops$/);
    expect((await listOf(cwd)).tasks).toMatchObject([{ durable: false }]);
    terminal.keys("C-c");
    await terminal.sees(/Stopped\./);
    expect((await listOf(cwd)).tasks).toEqual([]);
  });

  test("A3 run without a runner runs it here, and nothing else that is due", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "1h", "by hand");
    await create(cwd, "1s", "--exact", "other");
    const terminal = openTerminal(cwd);
    terminal.run(`loop run ${task.id} --agent-cmd 'echo hello from the agent'; echo code=$?`);
    const screen = await terminal.sees(/code=\d+\n\$$/);
    expect(screen).toMatch(/hello from the agent\n✓ ok .*\ncode=0/);
    const rows = await historyOf(cwd);
    expect(rows.map(({ taskId }) => taskId)).toEqual([task.id]);
    expect((await listOf(cwd)).owner).toBeNull();
  });

  test("F1 the live list follows changes and survives narrow, wide and a notice in between", async () => {
    const cwd = makeProject();
    await create(
      cwd,
      "1h",
      "--no-now",
      "a prompt that is a good deal longer than the narrow terminal, 日本語も",
    );
    const terminal = openTerminal(cwd, 120, 24);
    terminal.run("NO_COLOR=1 loop up --agent-cmd cat");
    await terminal.sees(/日本語も\nloop:1 · agent: command {2}Ctrl-C stops$/);
    for (const [columns, rows] of [
      [44, 20],
      [130, 24],
      [60, 12],
    ] as const) {
      terminal.resize(columns, rows);
      // tmux tells the program late; what it draws before it knows cannot be right
      await terminal.sees(columns < 72 ? /NEXT +PROMPT[\s\S]*stops$/ : /NEXT +LAST +PROMPT[\s\S]*stops$/);
      const made = await create(cwd, "1h", `task at ${columns}`);
      const screen = await terminal.sees(
        new RegExp(`✓ ok[\\s\\S]*${made.id} {2}Every hour[^\n]*\nloop:\\d · .*stops$`),
      );
      const lines = screen.split("\n");
      expect(
        lines.filter((line) => line.startsWith("ID ")),
        screen,
      ).toHaveLength(1);
      expect(
        lines.filter((line) => line.includes("Ctrl-C stops")),
        screen,
      ).toHaveLength(1);
      for (const line of lines.slice(lines.findIndex((line) => line.startsWith("ID "))))
        expect(line.length).toBeLessThanOrEqual(columns);
    }
    terminal.keys("C-c");
    const end = await terminal.sees(/Stopped\. The 4 tasks stay/);
    expect(end).not.toContain("Ctrl-C stops");
  });

  test("A13 F1 a file that is moved aside while the list is shown is told above it", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "--no-now", "x");
    const terminal = openTerminal(cwd);
    terminal.run("loop up --agent-cmd cat");
    await terminal.sees(/Ctrl-C stops$/);
    writeFileSync(join(cwd, ".loop", "tasks.json"), "{ broken");
    const screen = await terminal.sees(/did not parse: moved to[\s\S]*Ctrl-C stops$/);
    expect(screen.match(/^ID /gm)).toHaveLength(1);
  });
});
