/** H1, C13: whoever makes, merges or removes a worktree can be killed at any moment. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanWorktrees, listWorktrees } from "../../../src/git/worktrees/worktrees.ts";
import { commit, ENV, git, makeRepository, read, write } from "../fixtures.ts";
import { expectSound, OPTIONS, traces, tracesOf } from "./worktrees-samples.ts";

const STRIDE = process.env.LOOP_TEST_LONG === undefined ? 17 : 1;
const folder = mkdtempSync(join(tmpdir(), "loop worktrees "));
const program = join(folder, "process.mjs");

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL("worktrees-process.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How it ended, and what it said of why. */
async function run(
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly signal: string | null; readonly said: string }> {
  const child = spawn(process.execPath, [program, cwd], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  writeFileSync(join(dirname(cwd), "pid"), String(child.pid));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (code !== 0 && signal === null) throw new Error(said);
  return { signal, said };
}

/** A git that kills whoever called it, at the given call: in place of what it was to do, or right after it. */
function deadlyGit(cwd: string, at: number, when: "instead" | "after"): NodeJS.ProcessEnv {
  const bin = join(dirname(cwd), `bin ${at} ${when}`);
  mkdirSync(bin);
  const script = `#!/bin/sh
count="$(dirname "$0")/count"
printf x >> "$count"
calls=$(wc -c < "$count")
PATH="\${PATH#*:}"
[ "$calls" -lt ${at} ] && exec git "$@"
[ ${when} = after ] && git "$@"
kill -9 $PPID
`;
  writeFileSync(join(bin, "git"), script, { mode: 0o755 });
  return { ...ENV, PATH: `${bin}:${ENV.PATH}` };
}

/** A person's repository in which the target went on: stories start at the commit before. */
function movedRepository(): string {
  const cwd = makeRepository();
  write(cwd, { c: "1\n" });
  commit(cwd, "second");
  write(cwd, { mine: "untracked\n" });
  return cwd;
}

async function expectRecovered(cwd: string): Promise<void> {
  expectSound(cwd);
  expect((await run(cwd, ENV)).signal).toBeNull();
  expect(traces(cwd)).toEqual(tracesOf());
  expect(git(cwd, "status", "--porcelain")).toBe("?? mine\n");
  expect(read(cwd, "done", "mine", "a")).toEqual(["1\n", "untracked\n", "a 1\n"]);
  expect(git(cwd, "log", "--format=%s", "--grep=US-001: work")).toBe("US-001: work\n");
  expectSound(cwd);
}

test.each(["instead", "after"] as const)(
  "H1 C13 killed around any call of git (%s), the next process finishes; nothing is lost, doubled or left",
  { timeout: 600_000 },
  async (when) => {
    let kills = 0;
    for (let at = 1 + Math.floor(STRIDE / 2); ; at += STRIDE) {
      const cwd = movedRepository();
      const { signal } = await run(cwd, deadlyGit(cwd, at, when));
      await expectRecovered(cwd);
      if (signal === null) break;
      kills += 1;
    }
    expect(kills).toBeGreaterThan(60 / STRIDE);
  },
);

test("H1 C13 killed with git in the middle of the files, what is half there is found and goes", async () => {
  const cwd = movedRepository();
  write(cwd, { ".gitattributes": "b filter=deadly\n" });
  git(cwd, "add", ".gitattributes");
  git(cwd, "commit", "-q", "-m", "attributes");
  write(cwd, { c: "2\n" });
  git(cwd, "commit", "-q", "-a", "-m", "more");
  const settings = join(dirname(cwd), "settings");
  const killer = join(dirname(cwd), "killer");
  // all of us at once, the topmost first, as when the machine goes down: git gets no chance to tidy up
  const script = `#!/bin/sh
node=$(cat "$(dirname "$0")/pid")
all=
one=$PPID
while [ "$one" != "$node" ]; do
  [ "$one" -gt 1 ] || exit 1
  all="$one $all"
  one=$(ps -o ppid= -p "$one" | tr -d ' ')
done
kill -9 $node $all
`;
  writeFileSync(killer, script, { mode: 0o755 });
  const command = `'${killer.replaceAll("'", "'\\''")}'`;
  git(cwd, "config", "-f", settings, "filter.deadly.smudge", command);
  const { signal } = await run(cwd, { ...ENV, GIT_CONFIG_GLOBAL: settings });
  expect(signal).toBe("SIGKILL");
  const [half] = await listWorktrees(cwd, OPTIONS);
  expect(half).toMatchObject({ id: "US-001", state: "unfinished", isRemovable: true });
  expect(read(half?.path ?? "", ".gitattributes", "b")).toEqual(["b filter=deadly\n", null]);
  const { removed } = await cleanWorktrees(cwd, { isDryRun: false }, OPTIONS);
  expect(removed).toHaveLength(1);
  expect(traces(cwd)).toEqual(tracesOf());
  expect(readFileSync(join(cwd, "b"), "utf8")).toBe("b 1\n");
  expectSound(cwd);
});
