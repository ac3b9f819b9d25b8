/** Texts that are strange: long, of any language, or made to move the cursor of whoever reads them. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Io } from "../../src/cli/io.ts";
import { renderNews, renderNotice, renderProblem } from "../../src/cli/live/lines.ts";
import { renderTask } from "../../src/cli/render/tasks.ts";
import type { EngineNews } from "../../src/engine/engine.ts";
import { claimOrigin } from "../../src/store/signed/origin.ts";
import { renderSigned } from "../../src/store/signed/signed-json.ts";
import { create, makeProject, runLoop, startLoop } from "../support/cli.ts";
import { runHere } from "../support/here.ts";
import { task as aTask, cron, START } from "../support/tasks.ts";
import { until } from "../support/until.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

describe("prompts", () => {
  test("H5 A1 control characters are kept for the agent, and never reach the terminal", async () => {
    const cwd = makeProject();
    const prompt = "red \u001b[31malert\u0007 and\rback\u009b2J \u202eright to left";
    const task = await create(cwd, "5m", prompt, "--no-now");
    expect(task.prompt).toBe(prompt);
    for (const args of [["list"], ["show", task.id], ["5m", prompt, "--dry-run"]]) {
      const { stdout } = await runHere(args, { cwd });
      expect(stdout).toContain("alert");
      expect(stdout).not.toMatch(CONTROL);
    }
    const wrong = await runHere(["delete", "\u001b[2J\nx"], { cwd });
    expect(wrong.code).toBe(64);
    expect(wrong.stderr).not.toContain("\u001b");
    expect(wrong.stderr.trimEnd().split("\n")).toHaveLength(2);
  });

  test("H5 J7 hidden letters and changes of direction never reach the terminal, and JSON names them", async () => {
    const cwd = makeProject();
    const hidden = "pay \u202ealice\u2066 \u200bto\ufeff \u2028b\u{e0041}ob";
    const task = await create(cwd, "5m", hidden, "--no-now");
    const bound = ["setup-loop", "--session", "s-1", "--check", "ok=true", "--force", hidden, "--json"];
    const goal = JSON.parse((await runHere(bound, { cwd })).stdout) as { id: string };
    for (const id of [task.id, goal.id])
      for (const args of [
        ["show", id],
        ["show", id, "--json"],
        ["list"],
        ["list", "--json"],
        ["status", id],
      ]) {
        const { stdout } = await runHere(args, { cwd });
        expect.soft(stdout, args.join(" ")).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }
    const { stdout } = await runHere(["show", task.id, "--json"], { cwd });
    expect((JSON.parse(stdout) as { prompt: string }).prompt).toBe(hidden);
  });

  test("H4 nor do those of an agent: its wake-up reason, its answer, its failure in a notice", async () => {
    const cwd = makeProject();
    await create(cwd, "auto", "watch");
    const failing = await create(cwd, "1h", "fail", "--alert-after", "1");
    const says = `{"wakeup":{"stop":true,"reason":"over \\u001b[2J\\u0007 now"}}`;
    const command = `case $LOOP_ID in ${failing.id}) printf 'bad\\033[2J\\0news\\n'; exit 3;; esac; printf '%s\\n' '${says}'`;
    const notify = 'printf "%s" "$LOOP_BODY" > body';
    const up = startLoop(["up", "--agent-cmd", command, "--notify-cmd", notify], { cwd });
    await up.line(/ended: [^\n]*over/);
    await up.line(/✗ failed/);
    await until(() => existsSync(join(cwd, "body")), "the notice has come");
    up.signal("SIGTERM");
    expect(await up.ended).toBe(0);
    expect(up.output.stderr).toMatch(/^! Task \w+ needs attention: .*bad/m);
    expect(up.output.stdout + up.output.stderr).not.toMatch(CONTROL);
    const shown = await Promise.all(
      [["history"], ["show", failing.id]].map((args) => runHere(args, { cwd })),
    );
    expect(shown.map(({ stdout }) => stdout).join("")).not.toMatch(CONTROL);
  });

  test("H4 nor do those of a tasks.json that was forged, signature and all", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "5m", "mine", "--no-now");
    const path = join(cwd, ".loop", "tasks.json");
    const { sum: _, ...published } = JSON.parse(readFileSync(path, "utf8"));
    const evil = "x\u001b[2J\u009b2J";
    const lease = { token: 1, owner: evil, pid: process.pid, procStart: null, host: hostname() };
    const forgeries = [
      ...["id", "human", "tz", "prompt", "state", "waiting"].map((name) => ({
        tasks: [{ ...published.tasks[0], cron: "0 9 * * *", human: "at 9:00", [name]: evil }],
      })),
      { tasks: [{ ...published.tasks[0], human: [evil] }] },
      { tasks: evil },
      { lease: { ...lease, acquiredAt: Date.now() } },
      { lease: { ...lease, acquiredAt: 1e300 } },
      { timeZone: [evil] },
    ];
    for (const forgery of forgeries) {
      const content = { ...published, ...forgery };
      writeFileSync(path, renderSigned(claimOrigin(join(cwd, ".loop")), "tasks.json", content));
      for (const args of [["list"], ["list", "--ids"], ["list", "--json"]]) {
        const { code, stdout, stderr } = await runHere(args, { cwd });
        expect.soft({ code, stderr }, JSON.stringify(forgery)).toEqual({ code: 0, stderr: "" });
        expect.soft(stdout, JSON.stringify(forgery)).toContain(task.id);
        expect.soft(stdout, JSON.stringify(forgery)).not.toMatch(CONTROL);
      }
    }
  });

  test("H4 nor do those of anything else that a task carries", () => {
    const evil = "x\u001b[2J\u0000y";
    const plain = aTask(cron("0 9 * * *", evil), { expect: evil, importedFrom: evil, prompt: evil });
    const io = { colour: false } as Io;
    const shown = renderTask({ ...plain, statusReason: evil }, [], START, io);
    expect(shown).toMatch(/^from +x \[2J y$/m);
    expect(shown).not.toMatch(CONTROL);
    const lease = { token: 1, owner: evil, pid: 1, procStart: null, host: "h", acquiredAt: 0 };
    const news: EngineNews[] = [
      { type: "problem", message: evil },
      { type: "role", role: "passive", lease },
      { type: "ended", task: { ...plain, statusReason: evil } },
    ];
    for (const one of news) expect(renderNews(one, 1, START, io).join("")).not.toMatch(CONTROL);
    expect(renderNotice(evil, evil, io) + renderProblem(evil, io)).not.toMatch(CONTROL);
  });

  test("A1 very long, of many lines, in any language: the agent gets it letter by letter", async () => {
    const cwd = makeProject();
    const prompt = `${"長い文 ß 🎈 'quoted' \"twice\" $HOME `id`\n".repeat(4_000)}end`;
    const file = join(dirname(cwd), "home", "prompt.md");
    writeFileSync(file, prompt);
    const task = await create(cwd, "5m", "--prompt-file", file);
    expect(task.prompt).toBe(prompt);
    const up = await runLoop(
      ["up", "--for", "1s", "--agent-cmd", 'cat > got.txt; cmp got.txt "$LOOP_PROMPT_FILE"'],
      { cwd },
    );
    expect(up.stdout).toContain("✓ ok");
    expect(readFileSync(join(cwd, "got.txt"), "utf8").split("\n\n").slice(1).join("\n\n").trimEnd()).toBe(
      prompt,
    );
    const list = await runHere(["list"], { cwd });
    expect(list.stdout.split("\n")).toHaveLength(5);
  });

  test("H5 a pipe that is closed early is no failure", () => {
    const cwd = makeProject();
    const script =
      'for i in 1 2 3; do node "$LOOP" 5m "prompt $i" --no-now >/dev/null 2>&1; done; node "$LOOP" list | head -1';
    const out = execFileSync("sh", ["-c", script], {
      cwd,
      env: {
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: join(dirname(cwd), "home"),
        LOOP: join(dirname(cwd), "bin", "loop"),
      },
      encoding: "utf8",
    });
    expect(out).toMatch(/^ID +SCHEDULE/);
  });
});
