/** H2: what a repository or a copy brings along in `.loop` can be looked at, but nothing of it runs or is changed. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { FOREIGN as SENTENCE } from "../../../src/store/signed/origin.ts";
import { create, hashTree, listOf, loopJson, makeProject, runLoop } from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";

const FOREIGN = `${SENTENCE}\n`;
const UP = ["up", "--agent-cmd", "touch fired; cat", "--for", "2s"];
const EVERY_WRITER = [
  ["5m", "x"],
  UP,
  ["import"],
  ["init"],
  ["clear", "--yes"],
  ...["pause", "resume", "run", "delete"].map((word) => [word, "abcd1234"]),
  ["edit", "abcd1234", "15m"],
];

function forgeTasksFile(cwd: string, task: object = {}): void {
  mkdirSync(join(cwd, ".loop"));
  const due = { id: "abcd1234", prompt: "forged", everyMs: 1_000, expect: "touch checked", ...task };
  writeFileSync(join(cwd, ".loop", "tasks.json"), JSON.stringify({ tasks: [due] }));
  mkdirSync(join(cwd, ".claude"));
  writeFileSync(join(cwd, ".claude", "scheduled_tasks.json"), "[]");
}

/** The whole `.loop` of another project in which a task is due, mark and valid checksums and all. */
async function copyFolder(): Promise<{ cwd: string; id: string }> {
  const theirs = makeProject();
  const { id } = await create(theirs, "1s", "--exact", "theirs", "--expect", "touch checked");
  const cwd = makeProject();
  cpSync(join(theirs, ".loop"), join(cwd, ".loop"), { recursive: true });
  return { cwd, id };
}

async function expectNothingRuns(cwd: string): Promise<void> {
  const before = hashTree(cwd);
  expect(await runLoop(UP, { cwd })).toEqual({ code: 1, stdout: "", stderr: `loop: ${FOREIGN}` });
  expect(hashTree(cwd)).toBe(before);
}

describe("a folder from somewhere else", () => {
  test("H2 a forged tasks.json fires nothing, and every command that writes is refused", async () => {
    const cwd = makeProject();
    forgeTasksFile(cwd);
    await expectNothingRuns(cwd);
    const before = hashTree(cwd);
    for (const args of EVERY_WRITER) {
      const result = await runLoop(args, { cwd });
      expect.soft(result, args.join(" ")).toEqual({ code: 1, stdout: "", stderr: `loop: ${FOREIGN}` });
    }
    expect((await runHere(["list"], { cwd })).stderr).toBe(FOREIGN);
    expect(hashTree(cwd)).toBe(before);
  });

  test("H2 a copied journal fires nothing; list, show and history show it and say why", async () => {
    const { cwd, id } = await copyFolder();
    await expectNothingRuns(cwd);
    const before = hashTree(cwd);
    for (const args of [["list"], ["ls", "--json"], ["show", id], ["history"], ["list", "-C", "."]])
      expect.soft(await runLoop(args, { cwd }), args.join(" ")).toMatchObject({ code: 0, stderr: FOREIGN });
    expect((await runHere(["list"], { cwd })).stdout).toContain("theirs");
    const env = { LOOP_ID: id, LOOP_FIRE_ID: `${id}-1` };
    expect((await runLoop(["wakeup", "5m"], { cwd, env })).code).not.toBe(0);
    expect(hashTree(cwd)).toBe(before);
  });

  test("H2 nor does a clone of a repository that committed all of it, once or twice on this machine", async () => {
    const { cwd: theirs } = await copyFolder();
    expect((await runHere(["trust", "--yes"], { cwd: theirs })).code).toBe(0);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: theirs });
    git("init", "-q");
    git("add", "-f", ".loop");
    git("commit", "-qm", "all of it");
    const cwd = makeProject();
    rmSync(cwd, { recursive: true });
    execFileSync("git", ["clone", "-q", theirs, cwd], { cwd: dirname(cwd) });
    expect(existsSync(join(cwd, ".loop", "origin"))).toBe(true);
    await expectNothingRuns(cwd);
  });

  test("H2 only settings and a prompt, and a mark that somebody committed, are no engine's files", async () => {
    const cwd = makeProject();
    mkdirSync(join(cwd, ".loop"));
    writeFileSync(join(cwd, ".loop", "config.json"), "{}");
    writeFileSync(join(cwd, ".loop", "origin"), `${"0".repeat(64)}\n`);
    await create(cwd, "5m", "mine", "--no-now");
    expect(await runHere(["list"], { cwd })).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("trust", () => {
  test("H2 with --yes it runs; what it shows hides nothing", async () => {
    const cwd = makeProject();
    forgeTasksFile(cwd, { prompt: "a\nb\u001b[2K\u202e", expect: "touch checked # \u0007" });
    const before = hashTree(cwd);
    const asked = await runHere(["trust"], { cwd });
    expect(asked).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/^loop: .*\n {2}.*: loop trust --yes/),
    });
    expect(asked.stdout).toContain("    prompt: a\\nb\\u{1b}[2K\\u{202e}\n");
    expect(asked.stdout).toContain("    expects: touch checked # \\u{7}\n");
    expect(hashTree(cwd)).toBe(before);
    const { trusted, tasks } = await loopJson<{ trusted: boolean; tasks: object[] }>(["trust", "--yes"], {
      cwd,
    });
    expect({ trusted, tasks }).toMatchObject({ trusted: true, tasks: [{ id: "abcd1234" }] });
    expect(await runLoop(UP, { cwd })).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining(FOREIGN),
    });
    expect(existsSync(join(cwd, "fired")) && existsSync(join(cwd, "checked"))).toBe(true);
    expect((await runHere(["trust"], { cwd })).stdout).toBe(
      "Nothing here needs your trust: no loops or commands came with this project.\n",
    );
  });

  test("H2 it shows what the journal knows and what tasks.json would make of it", async () => {
    const { cwd, id } = await copyFolder();
    const path = join(cwd, ".loop", "tasks.json");
    const changed = { id, prompt: "changed", everyMs: 1_000 };
    writeFileSync(path, JSON.stringify({ tasks: [changed, { prompt: "new", cron: "0 9 * * *" }] }));
    const { stdout } = await runHere(["trust"], { cwd });
    expect(stdout).toMatch(/^3 loops without the signature of your key, and everything that runs:\n/);
    for (const prompt of ["theirs", "changed", "new"]) expect(stdout).toContain(`    prompt: ${prompt}\n`);
  });

  test("J1 it shows the MCP servers in files of the project, without secrets, whatever else there is", async () => {
    const cwd = makeProject();
    const token = `ghp_${"a1B2".repeat(9)}`;
    const server = { command: "npx", args: ["-y", "server", `--token=${token}`] };
    writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { theirs: server } }));
    const { stdout } = await runHere(["trust"], { cwd });
    expect(stdout).toMatch(/^Nothing here needs your trust: .*\nMCP servers in files of this project\..*:\n/);
    expect(stdout).toContain("  claude theirs (.mcp.json): npx -y server --token=");
    expect(stdout).not.toContain(token);
  });

  test("H2 it stays when the project is moved, and goes when it is copied", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "mine", "--no-now");
    const moved = join(dirname(cwd), "moved");
    renameSync(cwd, moved);
    expect(await runHere(["list"], { cwd: moved })).toMatchObject({ code: 0, stderr: "" });
    await create(moved, "1h", "another", "--no-now");
    cpSync(moved, cwd, { recursive: true });
    await expectNothingRuns(cwd);
    expect((await listOf(moved)).tasks).toHaveLength(2);
  });

  test("H2 without HOME, and with a damaged mark that one can mend", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "mine", "--no-now");
    expect((await runHere(["list"], { cwd, env: { HOME: "" } })).code).toBe(0);
    const [, , id] = readFileSync(join(cwd, ".loop", "origin"), "utf8").split(" ");
    // an earlier version had no signature
    for (const origin of ["", `loopwright 1 ${id}\n`]) {
      writeFileSync(join(cwd, ".loop", "origin"), origin);
      expect((await runLoop(["list"], { cwd })).stderr).toBe(FOREIGN);
    }
    expect((await runHere(["trust", "--yes"], { cwd })).code).toBe(0);
    expect((await runHere(["list"], { cwd })).stderr).toBe("");
  });

  test("H2 many first commands at once: all of them succeed", async () => {
    const cwd = makeProject();
    await Promise.all(Array.from({ length: 8 }, (_, n) => create(cwd, "1h", `new ${n}`, "--no-now")));
    expect((await listOf(cwd)).tasks).toHaveLength(8);
  });

  test.skipIf(!hasTmux)("H2 in a terminal it asks: n changes nothing, y trusts", async () => {
    const cwd = makeProject();
    forgeTasksFile(cwd, { everyMs: 3_600_000 });
    const before = hashTree(join(cwd, ".loop"));
    const terminal = openTerminal(cwd);
    terminal.run("loop trust");
    await terminal.sees(/touch checked[\s\S]*Trust 1 loop\?[\s\S]*No/);
    terminal.keys("n");
    await terminal.sees(/Nothing was changed\.\n\$$/);
    expect(hashTree(join(cwd, ".loop"))).toBe(before);
    terminal.run("clear; loop trust");
    await terminal.sees(/Trust 1 loop\?[\s\S]*No/);
    terminal.keys("y");
    await terminal.sees(/Trusted: 1 loop\. To run the tasks: loop up\n\$$/);
    expect((await runHere(["list"], { cwd })).stderr).toMatch(/created abcd1234\.\n$/);
  });
});

const SHAPE = `# Shape
## Criteria
- tests pass: \`touch ran; npm test\`
- the page looks right (observation)

## Must not
- secrets are committed: \`grep -r SECRET src\`
`;

function bringFiles(cwd: string, checks: readonly string[] = ["coverage=npm run -s cov >= 80"]): void {
  mkdirSync(join(cwd, ".loop", "shape"), { recursive: true });
  writeFileSync(join(cwd, ".loop", "shape", "SHAPE.md"), SHAPE);
  writeFileSync(join(cwd, ".loop", "config.json"), JSON.stringify({ checks }));
}

const SHOWN = `3 commands in .loop/shape/SHAPE.md:
  tests pass
    runs:   touch ran; npm test
  the page looks right
    runs:   judge: the page looks right
  must not: secrets are committed
    runs:   grep -r SECRET src
1 command in .loop/config.json:
  coverage >= 80
    runs:   npm run -s cov
`;
const ALL_TRUSTED = "Nothing here needs your trust: you have already trusted all commands of this project.\n";

describe("commands in the project's files", () => {
  test("H2 are shown, and trusted by --yes only; then nothing needs trust until the content changes", async () => {
    const cwd = makeProject();
    bringFiles(cwd);
    const before = hashTree(dirname(cwd));
    expect(await runHere(["trust"], { cwd })).toEqual({
      code: 64,
      stdout: SHOWN,
      stderr: expect.stringMatching(/^loop: .*\n {2}.*: loop trust --yes/),
    });
    expect(hashTree(dirname(cwd))).toBe(before);
    const project = hashTree(cwd);
    const yes = await runHere(["trust", "--yes"], { cwd });
    expect(yes).toMatchObject({
      code: 0,
      stdout: `${SHOWN}Trusted: 4 commands. Changed files need your trust again.\n`,
    });
    expect(hashTree(cwd)).toBe(project);
    expect(await runHere(["trust"], { cwd })).toMatchObject({ code: 0, stdout: ALL_TRUSTED });
    appendFileSync(join(cwd, ".loop", "shape", "SHAPE.md"), "\n");
    const { stdout } = await runHere(["trust"], { cwd });
    expect(stdout).toMatch(/^3 commands in \.loop\/shape\/SHAPE\.md, \+ since you trusted it:\n/);
    expect(stdout).not.toContain("config.json");
  });

  test("H2 a moved project asks again, another user too", async () => {
    const cwd = makeProject();
    bringFiles(cwd);
    await runHere(["trust", "--yes"], { cwd });
    expect((await runHere(["trust"], { cwd, env: { HOME: join(cwd, "other") } })).code).toBe(64);
    const moved = join(dirname(cwd), "moved");
    renameSync(cwd, moved);
    expect((await runHere(["trust"], { cwd: moved })).code).toBe(64);
    renameSync(moved, cwd);
    expect((await runHere(["trust"], { cwd })).code).toBe(0);
  });

  test("H2 --json says the same; tasks and commands are trusted together", async () => {
    const cwd = makeProject();
    forgeTasksFile(cwd);
    bringFiles(cwd, []);
    const asked = await runHere(["trust", "--json"], { cwd });
    expect(asked.code).toBe(64);
    const files = [{ file: ".loop/shape/SHAPE.md", commands: expect.arrayContaining([]) }];
    expect(JSON.parse(asked.stdout)).toMatchObject({ trusted: false, tasks: [{ id: "abcd1234" }], files });
    expect(JSON.parse(asked.stdout).files[0].commands[0]).toEqual({
      name: "tests pass",
      command: "touch ran; npm test",
    });
    const { stdout } = await runHere(["trust", "--yes"], { cwd });
    expect(stdout).toMatch(/^1 loop without the signature of your key, and everything that runs:\n/);
    expect(stdout).toMatch(/Trusted: 1 loop and 3 commands\. To run the tasks: loop up\n$/);
    expect(await loopJson(["trust"], { cwd })).toEqual({
      trusted: true,
      tasks: [],
      loops: [],
      held: [],
      servers: [],
      files: [],
    });
    expect(existsSync(join(cwd, "ran"))).toBe(false);
  });

  test("H2 nothing hides in what is shown", async () => {
    const cwd = makeProject();
    bringFiles(cwd, ["x=true # \u001b[2K\u202e\r\nrm -rf ~"]);
    const { stdout } = await runHere(["trust"], { cwd });
    expect(stdout).toContain("    runs:   true # \\u{1b}[2K\\u{202e}\\u{d}\\nrm -rf ~\n");
  });

  test("H2 --list shows what is trusted, --revoke takes it back for this project only", async () => {
    const [cwd, other] = [makeProject(), makeProject()];
    const env = { HOME: join(dirname(cwd), "home") };
    expect((await runHere(["trust", "--list"], { cwd })).stdout).toBe("No file is trusted.\n");
    for (const project of [cwd, other]) {
      bringFiles(project);
      expect((await runHere(["trust", "--yes"], { cwd: project, env })).code).toBe(0);
    }
    const { trusted } = await loopJson<{ trusted: { path: string }[] }>(["trust", "--list"], { cwd });
    expect(trusted).toHaveLength(4);
    const { stdout } = await runHere(["trust", "--list"], { cwd });
    expect(stdout.split("\n")[0]).toMatch(/^\d{4}-.*Z {2}[0-9a-f]{12} {2}\/.*config\.json$/);
    expect((await runHere(["trust", "--revoke"], { cwd })).stdout).toBe(
      "No longer trusted: .loop/config.json, .loop/shape/SHAPE.md.\n",
    );
    expect(await loopJson(["trust", "--revoke"], { cwd })).toEqual({ revoked: [] });
    expect((await runHere(["trust"], { cwd })).code).toBe(64);
    expect((await runHere(["trust"], { cwd: other, env })).stdout).toBe(ALL_TRUSTED);
    expect((await runHere(["trust", "--list", "--revoke"], { cwd })).code).toBe(64);
  });

  test("H2 without a place to keep it nothing is trusted, the tasks neither", async () => {
    const cwd = makeProject();
    forgeTasksFile(cwd);
    bringFiles(cwd);
    const before = hashTree(cwd);
    const result = await runHere(["trust", "--yes"], { cwd, env: { HOME: "" } });
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/neither HOME nor XDG_CONFIG_HOME/),
    });
    expect(hashTree(cwd)).toBe(before);
  });

  test.skipIf(!hasTmux)("H2 in a terminal it asks: n changes nothing, y trusts", async () => {
    const cwd = makeProject();
    bringFiles(cwd);
    const terminal = openTerminal(cwd);
    terminal.run("loop trust");
    await terminal.sees(/npm run -s cov[\s\S]*Trust 4 commands\?[\s\S]*No/);
    terminal.keys("n");
    await terminal.sees(/Nothing was changed\.\n\$$/);
    terminal.run("clear; loop trust");
    await terminal.sees(/Trust 4 commands\?[\s\S]*No/);
    // what is trusted is what was shown
    appendFileSync(join(cwd, ".loop", "shape", "SHAPE.md"), "- more: `rm -rf ~`\n");
    terminal.keys("y");
    await terminal.sees(
      /What you were shown changed while you were reading it; nothing was trusted\.[\s\S]*\$$/,
    );
    terminal.run("clear; loop trust");
    await terminal.sees(/Trust 5 commands\?[\s\S]*No/);
    terminal.keys("y");
    await terminal.sees(/Trusted: 5 commands\. Changed files need your trust again\.\n\$$/);
    expect((await runHere(["trust"], { cwd })).stdout).toBe(ALL_TRUSTED);
  });
});
