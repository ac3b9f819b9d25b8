/** Wrong input: one sentence on stderr, the right exit code, and nothing changed. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { create, hashTree, makeProject, runLoop } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

type Case = readonly [args: readonly string[], sentence: RegExp, code?: number];

/** Runs each and holds it to the contract; `cwd` must be the same afterwards. */
async function refuseAll(cwd: string, cases: readonly Case[], env: Record<string, string> = {}) {
  const before = hashTree(cwd);
  for (const [args, sentence, code = 64] of cases) {
    const result = await runHere(args, { cwd, env });
    const said = `loop ${args.join(" ")}\n${result.stderr}`;
    expect.soft(result.code, said).toBe(code);
    expect.soft(result.stdout, said).toBe("");
    expect.soft(result.stderr, said).toMatch(sentence);
    const [first = "", ...more] = result.stderr.trimEnd().split("\n");
    expect.soft(first, said).toMatch(/^loop: .*[.?]$/);
    expect.soft(more.length, `a sentence and at most one line of what to do: ${said}`).toBeLessThanOrEqual(1);
    for (const line of more) expect.soft(line, said).toMatch(/^ {2}\S/);
    expect.soft(hashTree(cwd), `changed something: ${said}`).toBe(before);
  }
}

describe("in a folder without tasks, nothing is written", () => {
  test("A1 H5 a prompt that is none, and times that are none", async () => {
    await refuseAll(makeProject(), [
      [["5m"], /The prompt is missing/],
      [[""], /The prompt is missing/],
      [["  \n "], /The prompt is missing/],
      [["every", "5m"], /The prompt is missing/],
      [["--cron", "0 9 * * *"], /prompt is empty/],
      [["0m", "x"], /above zero/],
      [["500ms", "x", "--exact"], /at least 1s/],
      [["at", "25:00", "x"], /"at 25:00" is not a time of day/],
      [["in", "soon", "x"], /not a length of time/],
      [["auto", "x", "--no-now"], /--no-now cannot be used with `loop auto`/],
      [["5m", "x", "--prompt-file", "no such file"], /--prompt-file: cannot read no such file/],
    ]);
  });

  test("H5 a prompt that is too long for the journal", async () => {
    const cwd = makeProject();
    const file = join(mkdtempSync(join(tmpdir(), "loopwright-long-")), "prompt.md");
    onTestFinished(() => rmSync(dirname(file), { recursive: true, force: true }));
    writeFileSync(file, "x".repeat(200_001));
    await refuseAll(cwd, [[["5m", "--prompt-file", file], /longer than 200000 characters/]]);
  });

  test("A14 H5 a cron expression names its wrong field; a time zone must exist", async () => {
    await refuseAll(makeProject(), [
      [["--cron", "61 * * * *", "x"], /minute field has "61"/],
      [["--cron", "0 24 * * *", "x"], /hour field has "24"/],
      [["--cron", "0 0 32 * *", "x"], /day-of-month field has "32"/],
      [["--cron", "0 0 1 13 *", "x"], /month field has "13"/],
      [["--cron", "0 9 * * 8", "x"], /day-of-week field has "8"/],
      [["--cron", "* * * *", "x"], /has 4 fields; write five/],
      [["--cron", "@daily", "x"], /nickname/],
      [["--cron", "0 0 30 2 *", "x"], /matches no time within a year/],
      [["--cron", "0 9 * * *", "--exact", "x"], /cannot be used together/],
      [["5m", "x", "--tz", "Mars/Olympus"], /"Mars\/Olympus" is not a time zone/],
      [["5m", "x", "--tz", ""], /"" is not a time zone/],
    ]);
  });

  test("A7 A10 A18 H5 a flag with a value that is none", async () => {
    await refuseAll(makeProject(), [
      [["5m", "x", "--expires", "soon"], /--expires "soon"/],
      [["5m", "x", "--expires", "0d"], /--expires "0d"/],
      [["in", "5m", "x", "--expires", "3d"], /--expires is only for recurring tasks/],
      [["5m", "x", "--missed", "maybe"], /--missed "maybe" is not known; write one of: ask, once, skip, all/],
      [["5m", "x", "--grace", "x"], /--grace "x"/],
      [["5m", "x", "--alert-after", "0"], /--alert-after "0"/],
      [["5m", "x", "--alert-after", "1.5"], /--alert-after "1.5"/],
      [["5m", "x", "--timeout", "-1"], /--timeout "-1"/],
      [["5m", "x", "--for", "later"], /--for "later"/],
      [["5m", "x", "--agent-cmd", " "], /--agent-cmd is empty/],
      [["5m", "x", "--agent", "hal"], /no agent is called "hal"/],
      [["5m", "x", "--session"], /--session needs a terminal/],
      [["up", "--for", "later"], /--for "later"/],
      [["up", "--agent-cmd", ""], /--agent-cmd is empty/],
      [["up", "--notify-cmd", "", "--agent-cmd", "cat"], /--notify-cmd is empty/],
      [["up"], /No agent was found/, 1],
      [["history", "--limit", "x"], /--limit "x"/],
    ]);
  });

  test("A3 H5 commands and flags that do not exist", async () => {
    await refuseAll(makeProject(), [
      [["lst"], /There is no command "lst"; did you mean `loop list`\?/],
      [["hsitory"], /did you mean `loop history`\?/],
      [["delte", "3f"], /There is no command "delte"; did you mean `loop delete 3f`\?/],
      [["UP"], /did you mean `loop up`\?/],
      [["upp"], /did you mean `loop up`\?/],
      [["Delete", "0badcafe"], /did you mean `loop delete 0badcafe`\?/],
      [["stauts"], /There is no command "stauts"; did you mean `loop status`\?/],
      [["backlgo"], /There is no command "backlgo"; did you mean `loop backlog`\?/],
      [["wacth"], /There is no command "wacth", and this version has no command `loop watch`\./],
      [["version"], /did you mean `loop --version`\?/],
      [["help", "lst"], /did you mean `loop help list`\?/],
      [["help", "nonsense"], /There is no command "nonsense"/],
      [["watch", "this"], /This version has no command `loop watch`/],
      [["backlog", "run"], /There is no backlog here/],
      [["5m", "x", "--nope"], /Unknown option '--nope'/],
      [["list", "--nope"], /Unknown option '--nope'/],
      [["list", "extra"], /Too many arguments/],
      [["run", "the", "tests", "every", "20m"], /Too many arguments/],
      [["show"], /Missing required argument 'id'/],
      [["completions", "constructor"], /no completions for "constructor"/],
      [["import", "toString"], /cannot be imported from "toString"/],
      [["import"], /nothing to import: .* has no .claude\/scheduled_tasks.json/],
      [["-C", "nowhere", "list"], /--project: there is no folder/],
      [["--exact", "list"], /`loop list` has no flag --exact/],
      [["list", "-C", "nowhere"], /--project: there is no folder/],
      [["wakeup", "5m"], /works only inside a turn/],
    ]);
  });
});

test.each(["delte the old branches", "Status of the build", "version the API", "look", "show 3f to me"])(
  "A3 a prompt that only begins like a command stays a prompt: %s",
  async (prompt) => {
    const words = prompt.startsWith("show") ? ["10m", ...prompt.split(" ")] : prompt.split(" ");
    const { code, stdout } = await runLoop([...words, "--dry-run", "--json"], { cwd: makeProject() });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ prompt });
  },
);

describe("in a project with tasks, they stay as they are", () => {
  test("A3 H5 ids that are none, unknown or several", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "one", "--no-now");
    // ids are random; the file of tasks takes the ones that a person writes
    const path = join(cwd, ".loop", "tasks.json");
    const file = JSON.parse(readFileSync(path, "utf8"));
    file.tasks = ["aaaa1111", "aaaa2222"].map((id) => ({ id, prompt: id, cron: "0 0 1 1 *" }));
    writeFileSync(path, JSON.stringify(file));
    expect((await runHere(["list", "--ids"], { cwd })).stdout).toBe("aaaa1111\naaaa2222\n");
    const wrong: Case[] = ["show", "pause", "resume", "run", "delete"].flatMap((command) => [
      [[command, "aaaa"], /aaaa matches several ids: aaaa1111, aaaa2222/] as const,
      [
        [command, "bbbb"],
        new RegExp(`There is no ${command === "show" ? "loop" : "task"} bbbb here`),
      ] as const,
      [[command, "xyz"], /"xyz" is not an id/] as const,
    ]);
    await refuseAll(cwd, [
      ...wrong,
      [["show", "aaaa11112"], /is not an id/],
      [["show", "../../etc"], /is not an id/],
      [["delete", "aaaa1111", "bbbb"], /There is no task bbbb here/],
      [["history", "cccc"], /There is no task cccc here/],
      [["edit", "aaaa1111"], /There is nothing to change/],
      [["edit", "aaaa1111", "--exact"], /--exact needs an interval/],
      [["edit", "aaaa1111", "--cron", "x"], /field/],
      [["edit", "aaaa1111", "--prompt-file", "-"], /--prompt-file: - is empty/],
      [["edit", "aaaa1111", "--expires", "x"], /--expires "x"/],
      [["run", "aaaa1111", "--agent-cmd", ""], /--agent-cmd is empty/],
      [["clear"], /there is no terminal\.\n {2}.*: loop clear --yes/],
    ]);
    const upper = await runHere(["show", "AAAA1", "--json"], { cwd });
    expect(JSON.parse(upper.stdout)).toMatchObject({ id: "aaaa1111" });
  });

  test("A3 H5 what a task's state forbids", async () => {
    const cwd = makeProject();
    const paused = await create(cwd, "5m", "paused", "--no-now");
    await runHere(["pause", paused.id], { cwd });
    const once = await create(cwd, "in", "5m", "once");
    await refuseAll(cwd, [
      [["run", paused.id], /is paused\. Resume it first: loop resume \w+/],
      [["edit", once.id, "15m"], /fires only once and has no interval/],
      [["edit", once.id, "--expires", "3d"], /--expires is only for recurring tasks/],
      [["edit", once.id, "at", "26:00"], /not a time of day/],
    ]);
    await refuseAll(cwd, [[["wakeup", "5m"], /The turn x has ended/]], {
      LOOP_ID: once.id,
      LOOP_FIRE_ID: "x",
    });
  });

  test("A8 H5 the 51st task is refused by a sentence with the limit and the setting; maxTasks changes it", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "first", "--no-now");
    const path = join(cwd, ".loop", "tasks.json");
    const file = JSON.parse(readFileSync(path, "utf8"));
    file.tasks = Array.from({ length: 50 }, (_, n) => ({ prompt: `task ${n}`, cron: "0 0 1 1 *" }));
    writeFileSync(path, JSON.stringify(file));
    expect((await runHere(["list", "--ids"], { cwd })).stdout.trim().split("\n")).toHaveLength(50);
    const full =
      /There are 50 live tasks, and at most 50 are allowed per project \(maxTasks in \.loop\/config\.json\)/;
    await refuseAll(cwd, [
      [["5m", "one too many"], full],
      [["in", "5m", "one too many"], full],
    ]);
    writeFileSync(join(cwd, ".loop", "config.json"), '{"maxTasks": 51}');
    expect((await runHere(["5m", "the 51st"], { cwd })).code).toBe(0);
    expect((await runHere(["5m", "the 52nd"], { cwd })).stderr).toContain("at most 51");
  });
});
