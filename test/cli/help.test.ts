/** Help that people read, and completions that a shell takes. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { cleanEnv, create, makeProject, runLoop } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

const COMMANDS =
  "list show history until score status continue cancel approve reject accept rollback report backlog worktrees install uninstall doctor mcp capabilities agents prices route pause resume run edit delete clear import trust up wakeup init demo completions".split(
    " ",
  );
/** For programs, and to look inside: not in the list, but with help. */
const HIDDEN =
  "hook demo-agent statusline register-task mark-complete mark-blocked next-task setup-loop teardown-loop heartbeat release-lock".split(
    " ",
  );
const snapshot = (name: string) => fileURLToPath(new URL(`__snapshots__/help-${name}.txt`, import.meta.url));

describe("help", () => {
  test("F1 A3 of the whole: under `help`, `?`, `--help` and with no words at all", async () => {
    const cwd = makeProject();
    const forms = await Promise.all([["help"], ["?"], ["--help"], []].map((args) => runHere(args, { cwd })));
    for (const { code, stdout, stderr } of forms) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toBe(forms[0]?.stdout);
    }
    await expect(forms[0]?.stdout).toMatchFileSnapshot(snapshot("loop"));
  });

  test("F1 of each command, no line over 110 columns, all commands named", async () => {
    const cwd = makeProject();
    const whole = (await runHere(["help"], { cwd })).stdout;
    for (const command of [...COMMANDS, ...HIDDEN]) {
      const { code, stdout, stderr } = await runHere(["help", command], { cwd });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      await expect(stdout).toMatchFileSnapshot(snapshot(command));
      for (const line of [...stdout.split("\n"), ...whole.split("\n")])
        expect(line.length, line).toBeLessThanOrEqual(110);
    }
    const listed = [...whole.slice(whole.indexOf("Commands:")).matchAll(/^ {2}([a-z]+)/gm)].map(
      ([, name]) => name,
    );
    expect(listed.slice(0, listed.indexOf("help"))).toEqual(COMMANDS);
    for (const alias of ["list|ls", "show|inspect", "delete|remove|rm|stop"]) expect(whole).toContain(alias);
  });
});

describe("completions", () => {
  /** What bash would offer at the end of these words. */
  async function complete(cwd: string, ...words: string[]): Promise<string[]> {
    const { stdout } = await runHere(["completions", "bash"], { cwd });
    const script = `${stdout}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _loop; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = cleanEnv(cwd);
    return execFileSync("bash", ["--norc", "-c", script, "bash", "loop", ...words], {
      cwd,
      env,
      encoding: "utf8",
    })
      .trim()
      .split("\n");
  }

  test("F1 bash completes commands, flags and ids in a real bash", async () => {
    const cwd = makeProject();
    const { id } = await create(cwd, "5m", "x", "--no-now");
    expect(await complete(cwd, "his")).toEqual(["history"]);
    expect(await complete(cwd, "show", id.slice(0, 2))).toEqual([id]);
    expect(await complete(cwd, "rm", "")).toEqual([id]);
    expect(await complete(cwd, "up", "--ag")).toEqual(["--agent", "--agent-acp", "--agent-cmd"]);
    expect(await complete(cwd, "5m", "--dr")).toEqual(["--dry-run"]);
    expect(await complete(cwd, "clear", "--y")).toEqual(["--yes"]);
  });

  test.each(["bash", "zsh", "fish"])("F1 %s can read them, where it is installed", async (shell) => {
    const cwd = makeProject();
    const { code, stdout } = await runHere(["completions", shell], { cwd });
    expect(code).toBe(0);
    for (const command of COMMANDS) expect(stdout).toContain(command);
    if (spawnSync(shell, ["-c", "true"]).error !== undefined) return;
    const file = join(cwd, "completions");
    writeFileSync(file, stdout);
    const checked = spawnSync(shell, ["-n", file], { encoding: "utf8" });
    expect(checked).toMatchObject({ status: 0, stderr: "" });
  });
});

test("F1 --version prints the version of the package", async () => {
  const cwd = makeProject();
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const { version } = JSON.parse(execFileSync("cat", [join(root, "package.json")], { encoding: "utf8" }));
  expect(await runLoop(["--version"], { cwd })).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});
