/** Wrong input for goal loops, and surroundings that are not as they should be. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { giveHome, hashTree, makeProject, runLoop } from "../../support/cli.ts";
import {
  CHECK,
  commitAll,
  git,
  idler,
  makeAgent,
  makeRepository,
  runJson,
  SPEC,
  stateOf,
  turnsOf,
  untilArgs,
  worker,
  writeShape,
} from "../../support/goals/goal-cli.ts";
import { runHere } from "../../support/here.ts";

const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
const ESCAPE = "\u001b[31m\u0007\u009b2J\u202e";

describe("H5 wrong input is one sentence, exit 64, and changes nothing", () => {
  const until = (...flags: string[]) => ["until", ...CHECK, "--agent-cmd", "cat", ...flags, SPEC];
  const table: readonly (readonly [readonly string[], RegExp])[] = [
    [["until"], /The goal is missing\.\n {2}Write what must be proved/],
    [["until", ""], /The goal is missing\./],
    [until("--iterations", "0"), /--iterations "0" is not a whole number of 1 or more\./],
    [until("--iterations", "1.5"), /--iterations "1\.5"/],
    [until("--iterations", "51"), /51 iterations are too many; a loop can have at most 50/],
    [until("--budget", "0"), /--budget "0" is not an amount of dollars; write it like 5 or 2\.50\./],
    [until("--budget", "-1"), /--budget "-1"/],
    [until("--budget", "ten"), /--budget "ten"/],
    [until("--budget", "0x10"), /--budget "0x10"/],
    [until("--budget="), /--budget ""/],
    [until("--budget", "100.01"), /A budget of \$100\.01 is too much; a loop can spend at most \$100/],
    [until("--budget", "$$5"), /--budget "\$\$5" is not an amount of dollars/],
    [until("--notify-cmd", ""), /--notify-cmd is empty; write a command after it\./],
    [until("--time", "soon"), /--time "soon" is not a length of time/],
    [until("--tokens", "many"), /--tokens "many"/],
    [until("--context", "new"), /--context "new" is not known; write one of: fresh, continue\./],
    [until("--exit-on", "luck"), /--exit-on "luck" is not known; write one of: both, proof\./],
    [until("--gate-timeout", "x"), /--gate-timeout "x" is not a length of time/],
    [
      until("--gate-default", "maybe"),
      /--gate-default "maybe" is not known; write one of: approve, reject\./,
    ],
    [until("--reversibility", "2C"), /--reversibility "2C" is not known; write one of: 2A, 2B, 1\./],
    [until("--timeout", "0s"), /--timeout "0s"/],
    [until("--check-timeout", "x"), /--check-timeout "x"/],
    [until("--protect", ""), /--protect is empty/],
    [until("--allow-changes", " "), /--allow-changes is empty/],
    [until("--steps", "no such file"), /--steps: cannot read no such file: /],
    [until("--steps", "check.sh", "--steps", "empty.md"), /--steps: empty\.md has no steps/],
    [until("--prompt-file", "no such file"), /--prompt-file: cannot read no such file: /],
    [until("--prompt-file", "."), /--prompt-file: cannot read \.: /],
    [until("--check", "tests"), /^loop: --check 'tests' has no "="; write --check 'name=command'\.\n$/],
    [until("--check", "=true"), /the name is empty/],
    [until("--check", "x="), /--check x: there is no command after "="\./],
    [until("--check", "x=judge:"), /there is no question after "judge:"/],
    [until("--check", "cov=npm run cov >=80"), /">=" must have a space on each side/],
    [until("--check", "done=true"), /Two different checks have the name "done"; give each its own name\./],
    [["until", ...CHECK, "--agent", "nobody", SPEC], /no agent is called "nobody"; known: claude/],
    [["until", ...CHECK, "--agent-cmd", "", SPEC], /--agent-cmd is empty/],
    [until("--agent", "claude"), /--agent and --agent-cmd cannot be used together\./],
    [until("--bogus"), /Unknown option '--bogus'/],
    [until("--exit-on", `a${ESCAPE}b`), /--exit-on "a .*b" is not known/],
    [until("--steps", `a${ESCAPE}b`), /--steps: cannot read/],
    [until("-C", "nowhere"), /--project: there is no folder .*nowhere\./],
    [["status", "xyz"], /"xyz" is not an id/],
    [["status", "0123abcd"], /There is no goal 0123abcd here\./],
    [["report"], /There is no goal loop here\./],
    [["continue"], /No goal loop is running or paused here\.\n {2}Start one with: loop until/],
    [["continue", "--budget", "x"], /--budget "x"/],
    [["continue", "xyz"], /"xyz" is not an id/],
    [["cancel"], /No goal loop is running or paused here/],
    [["approve"], /No goal loop is running or paused here/],
    [["reject", "why not"], /No goal loop is running or paused here/],
    [["accept"], /No goal loop is running or paused here/],
    [["accept", "a", "b"], /Too many arguments/],
    [["rollback"], /There is no goal loop here/],
    [["rollback", "a", "b", "c"], /There are too many words\.\n {2}Write: loop rollback \[goal\] \[step\]/],
    [["pause"], /No goal loop is running or paused here/],
  ];

  test("every flag, every command", async () => {
    const cwd = makeRepository();
    writeFileSync(join(cwd, "empty.md"), "# Nothing\n");
    const before = hashTree(cwd);
    const queue = [...table];
    const work = async () => {
      for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
        const [args, sentence] = row;
        const result = await runHere(args, { cwd });
        const name = JSON.stringify(args);
        expect.soft(result, name).toMatchObject({ code: 64, stdout: "" });
        expect.soft(result.stderr, name).toMatch(sentence);
        expect.soft(result.stderr, name).toMatch(/^loop: [^\n]+\n(?: {2}[^\n]+\n)?$/);
        expect.soft(unprintable(result.stderr), name).toEqual([]);
      }
    };
    await Promise.all([work(), work(), work()]);
    expect(hashTree(cwd), "nothing was changed").toBe(before);
  });

  test.each([
    [{ LOOP_BUDGET: "lots" }, /LOOP_BUDGET "lots" is not an amount of dollars/],
    [{ LOOP_BUDGET: "500" }, /A budget of \$500 is too much/],
    [{ LOOP_MAX_ITERATIONS: "none" }, /LOOP_MAX_ITERATIONS "none" is not a whole number/],
    [{ LOOP_SHAPE: "friend" }, /LOOP_SHAPE "friend" is not known; write one of: tool, colleague\./],
  ])("B17 the environment is named by its name: %j", async (env, sentence) => {
    const cwd = makeRepository();
    const result = await runHere(until(), { cwd, env });
    expect(result).toMatchObject({ code: 64, stdout: "", stderr: expect.stringMatching(sentence) });
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test("B2 vague specs are exit 5 whatever the case, and write nothing", async () => {
    const cwd = makeRepository();
    for (const words of [["fix it"], ["make", "the", "app", "better"], ["日本語"]]) {
      const result = await runHere(["until", ...words, "--agent-cmd", "cat"], { cwd });
      expect(result.code, words.join(" ")).toBe(5);
    }
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test("B6 the same check twice is no fault: flag, phrase and file may say the same", async () => {
    const cwd = makeRepository();
    const args = ["until", ...CHECK, ...CHECK, "--agent-cmd", worker(cwd), SPEC];
    const run = await runJson(args, { cwd });
    expect({ code: run.code, names: run.end.criteria.map(({ name }) => name) }).toEqual({
      code: 0,
      names: ["done"],
    });
  });
});

describe("H2 what a repository brought along runs only once it was trusted", () => {
  test("SHAPE.md: exit 1 with the way on; trusted it runs; changed it asks again", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    writeShape(cwd, "## Criteria\n- marked: `touch ran.txt && test -f done.txt`\n");
    const agent = worker(cwd);
    const args = ["until", "--agent-cmd", agent, SPEC];
    const refused = await runLoop(args, { cwd });
    expect(refused).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "loop: .loop/shape/SHAPE.md contains commands that are new or changed, and you have not trusted them yet.\n  Review and trust them with: loop trust\n",
    });
    expect({ ran: existsSync(join(cwd, "ran.txt")), turns: turnsOf(cwd) }).toEqual({ ran: false, turns: [] });
    const trusted = await runHere(["trust", "--yes"], { cwd });
    expect(trusted.stdout).toContain("touch ran.txt && test -f done.txt");
    const run = await runJson(args, { cwd });
    expect({ code: run.code, criteria: run.end.criteria }).toMatchObject({
      code: 0,
      criteria: [{ name: "marked", met: true }],
    });
    writeShape(cwd, "## Criteria\n- marked: `touch other.txt`\n");
    expect((await runLoop(args, { cwd })).code).toBe(1);
    expect(existsSync(join(cwd, "other.txt"))).toBe(false);
  });

  test("checks in config.json, and what cannot be understood is a sentence", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    mkdirSync(join(cwd, ".loop"));
    const config = (value: unknown) =>
      writeFileSync(join(cwd, ".loop", "config.json"), JSON.stringify(value));
    const args = ["until", "--agent-cmd", worker(cwd), SPEC];
    config({ checks: ["present=test -f done.txt"] });
    expect(await runLoop(args, { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/config\.json contains commands/),
    });
    await runHere(["trust", "--yes"], { cwd });
    expect((await runJson(args, { cwd })).end.criteria).toMatchObject([{ name: "present", met: true }]);
    config({ checks: ["no command"] });
    const wrong = await runLoop(args, { cwd });
    expect(wrong).toMatchObject({ code: 1, stdout: "" });
    expect(wrong.stderr).toMatch(/config\.json.*has no "="/);
  });
});

describe("the spec itself", () => {
  test("control characters and escape sequences never reach the terminal raw", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(
      cwd,
      `printf '\\033]0;title\\007\\033[2J'`,
      "touch done.txt",
      `report true done "NEXT: $(printf '\\033[31mred')"`,
    );
    const check = `don${ESCAPE}e`;
    writeFileSync(join(cwd, "..", "issue.md"), `Look at ${ESCAPE}this\r\nand\u0000that\n`);
    const flags = ["--prompt-file", "../issue.md", "--steps", "../issue.md"];
    const bad = await runLoop(["until", "--check", `${check}=sh check.sh`, "--agent-cmd", agent, SPEC], {
      cwd,
    });
    expect(bad).toMatchObject({ code: 64, stderr: expect.stringMatching(/invisible characters/) });
    const run = await runLoop([...untilArgs(agent, "--check", `loud=printf '${ESCAPE}'`), ...flags], { cwd });
    expect(run.code).toBe(0);
    for (const args of [["status"], ["report"], ["rollback"], ["list"]]) {
      const { stdout, stderr } = await runLoop(args, { cwd });
      expect(unprintable(stdout + stderr), args.join(" ")).toEqual([]);
    }
    expect(unprintable(run.stdout + run.stderr)).toEqual([]);
    const json = await runHere(["status", "--json"], { cwd });
    expect([...json.stdout].filter((letter) => /\p{Cc}/u.test(letter))).toEqual(["\n"]);
  });

  test("100 KB is taken whole; more is refused by its length", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const words = "Every word of it matters. ".repeat(3_800);
    writeFileSync(join(cwd, "..", "long.md"), words);
    const args = untilArgs(worker(cwd), "--prompt-file", "../long.md", "--steps", "-");
    const run = await runJson(args, { cwd, input: "do it" });
    expect(run.code).toBe(0);
    expect(stateOf(cwd).spec).toHaveLength(SPEC.length + 1 + words.trim().length);
    expect(turnsOf(cwd)[0]?.prompt.match(/Every word of it matters\./g)).toHaveLength(3_800);
    writeFileSync(join(cwd, "..", "long.md"), words.repeat(2));
    expect(await runLoop(args, { cwd, input: "do it" })).toEqual({
      code: 64,
      stdout: "",
      stderr: "loop: The spec is too long; at most 100000 characters are allowed.\n",
    });
  });
});

describe("the folder", () => {
  test(".loop is a file: exit 1 and a way on", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    writeFileSync(join(cwd, ".loop"), "");
    expect(await runLoop(untilArgs(worker(cwd)), { cwd })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /\.loop is a file; loopwright needs a folder of that name\.\n {2}Rename or remove it\.\n$/,
      ),
    });
  });

  test.skipIf(!IS_ROOT)(
    "a folder that cannot be written to: exit 1 before any turn",
    async ({ onTestFinished }) => {
      const cwd = makeRepository(onTestFinished);
      for (const path of [dirname(cwd), cwd, join(dirname(cwd), "bin")]) chmodSync(path, 0o755);
      const agent = worker(cwd);
      const result = await runLoop(untilArgs(agent), { cwd, uid: NOBODY });
      expect(result).toMatchObject({ code: 1, stdout: "" });
      expect(result.stderr).toMatch(
        /^loop: Cannot write .*\.loop: permission denied\.\n {2}Nothing was changed\.\n$/,
      );
      expect(turnsOf(cwd)).toEqual([]);
    },
  );

  test("H1 .loop is removed under a turn: it ends, says why, and never as done", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(cwd, "rm -rf .loop", "touch done.txt", "report true");
    const { code, stdout, stderr } = await runLoop(untilArgs(agent), { cwd });
    // seen before anything is written again: gone; after that: the record of the checks is
    expect([1, 6]).toContain(code);
    expect(stdout + stderr).toMatch(/is gone: the folder \.loop was removed|⏸ Paused: /);
    expect(stdout).not.toContain("<loop-complete>");
  });
});

describe("git", () => {
  test("none: it works, and says what is lost", async ({ onTestFinished }) => {
    const cwd = makeProject(onTestFinished);
    writeFileSync(join(cwd, "check.sh"), "test -f done.txt\n");
    const run = await runLoop(untilArgs(worker(cwd)), { cwd });
    expect(run.code).toBe(0);
    expect(run.stdout).toContain("! This folder has no git: loop cannot roll files back");
    expect(await runHere(["rollback"], { cwd })).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/has no checkpoints\.\n {2}Checkpoints need git/),
    });
  });

  test("without a commit, and with a detached HEAD: checkpoints, and HEAD, index and branches as they were", async ({
    onTestFinished,
  }) => {
    const empty = makeProject(onTestFinished);
    writeFileSync(join(empty, "check.sh"), "test -f done.txt\n");
    git(empty, "init", "-q", "-b", "main");
    expect((await runJson(untilArgs(worker(empty)), { cwd: empty })).code).toBe(0);
    expect(() => git(empty, "rev-parse", "--verify", "-q", "main")).toThrow();
    expect((await runHere(["rollback", "0"], { cwd: empty })).code).toBe(0);
    expect(existsSync(join(empty, "done.txt"))).toBe(false);

    const detached = makeRepository(onTestFinished);
    git(detached, "checkout", "-q", "--detach");
    const head = git(detached, "rev-parse", "HEAD");
    expect((await runJson(untilArgs(worker(detached)), { cwd: detached })).code).toBe(0);
    expect({
      head: git(detached, "rev-parse", "HEAD"),
      staged: git(detached, "diff", "--cached", "--name-only"),
    }).toEqual({ head, staged: "" });
    expect(readFileSync(join(detached, ".git", "HEAD"), "utf8")).toBe(head);
    expect((await runHere(["rollback", "0"], { cwd: detached })).code).toBe(0);
  });

  test.skipIf(!IS_ROOT)(
    "a .git that cannot be written to: the work goes on without checkpoints",
    async ({ onTestFinished }) => {
      const cwd = makeRepository(onTestFinished);
      const base = dirname(cwd);
      const agent = worker(cwd);
      for (const path of [base, cwd, join(base, "home")]) {
        chmodSync(path, 0o755);
        chownSync(path, NOBODY, NOBODY);
      }
      writeFileSync(join(base, "home", ".gitconfig"), "[safe]\n\tdirectory = *\n");
      giveHome(cwd, NOBODY);
      const run = await runJson(untilArgs(agent), { cwd, uid: NOBODY });
      expect(run.code).toBe(0);
      expect(git(cwd, "for-each-ref", "refs/loopwright")).toBe("");
      const listed = await runHere(["rollback"], { cwd, uid: NOBODY });
      expect(listed).toMatchObject({ code: 64, stderr: expect.stringMatching(/has no checkpoints/) });
    },
  );

  test("inside of a git hook: GIT_DIR of another repository is not ours", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const other = makeRepository(onTestFinished);
    const before = hashTree(other);
    const env = {
      GIT_DIR: join(other, ".git"),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, ".git", "index"),
      GIT_PREFIX: "",
    };
    expect((await runJson(untilArgs(worker(cwd)), { cwd, env })).code).toBe(0);
    expect(hashTree(other), "the other repository is as it was").toBe(before);
    expect(git(cwd, "for-each-ref", "refs/loopwright").trim().split("\n")).toHaveLength(2);
  });

  test("a project in a folder of a repository: only its own files are looked at and put back", async ({
    onTestFinished,
  }) => {
    const root = makeRepository(onTestFinished);
    const cwd = join(root, "päckage 'a'");
    mkdirSync(join(cwd, ".loop"), { recursive: true });
    writeFileSync(join(cwd, "check.sh"), "test -f done.txt\n");
    commitAll(root);
    const agent = makeAgent(root, "touch done.txt", "report true").replace("../", "../../");
    const inner = await runJson(["-C", cwd, ...untilArgs(agent)], { cwd: root });
    expect(inner.code).toBe(0);
    expect(readdirSync(cwd).sort()).toEqual([".loop", "check.sh", "done.txt"]);
    writeFileSync(join(root, "check.sh"), "mine\n");
    expect((await runLoop(["-C", cwd, "rollback", "0"], { cwd: root })).code).toBe(0);
    expect(existsSync(join(cwd, "done.txt"))).toBe(false);
    expect(readFileSync(join(root, "check.sh"), "utf8")).toBe("mine\n");
  });
});

test("B17 two runs at once in two projects do not know of each other", async () => {
  const [first, second] = [makeRepository(), makeRepository()];
  const [one, two] = await Promise.all([
    runJson(untilArgs(worker(first)), { cwd: first }),
    runJson(untilArgs(idler(second), "--iterations", "1"), { cwd: second }),
  ]);
  expect([one.code, two.code]).toEqual([0, 3]);
});

/** Whatever a terminal would obey or hide. */
function unprintable(text: string): string[] {
  return [...text].filter((letter) => /[\p{Cc}\p{Cf}]/u.test(letter) && letter !== "\n");
}
