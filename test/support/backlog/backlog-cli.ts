/**
 * A backlog as a user runs it: a repository with real tests that are red until a story is done, stories that build
 * on each other, and an agent of a few lines of shell. The agent writes down beside the project what it did.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { cleanEnv, type Finish, makeProject, type Result, type RunOptions, runLoop } from "../cli.ts";
import { commitAll, git } from "../goals/goal-cli.ts";
import { runHere } from "../here.ts";

export interface StoryWish {
  readonly n: number;
  readonly dependsOn: readonly number[];
}

/** Twelve, of which each waits for what it is made of. */
export const TWELVE: readonly StoryWish[] = [
  { n: 1, dependsOn: [] },
  { n: 2, dependsOn: [] },
  { n: 3, dependsOn: [1] },
  { n: 4, dependsOn: [1, 2] },
  { n: 5, dependsOn: [] },
  { n: 6, dependsOn: [4, 5] },
  { n: 7, dependsOn: [3] },
  { n: 8, dependsOn: [] },
  { n: 9, dependsOn: [7, 8] },
  { n: 10, dependsOn: [6] },
  { n: 11, dependsOn: [] },
  { n: 12, dependsOn: [9, 10, 11] },
];

export const idOf = (n: number) => `US-${String(n).padStart(3, "0")}`;

export interface BacklogWish {
  readonly stories?: readonly StoryWish[];
  /** How a story is checked; by its real tests when it is not given. */
  readonly check?: (n: number) => string;
  readonly finish?: Finish;
}

export function makeBacklog({
  stories = TWELVE,
  check = testCommand,
  finish = onTestFinished,
}: BacklogWish = {}): string {
  const cwd = makeProject(finish);
  const solutions = join(dirname(cwd), "solutions");
  for (const dir of [join(cwd, "src"), join(cwd, "test"), join(cwd, ".loop"), solutions]) mkdirSync(dir);
  for (const story of stories) {
    writeFileSync(join(solutions, `${idOf(story.n)}.mjs`), solutionOf(story));
    writeFileSync(join(cwd, "test", `f${story.n}.test.mjs`), testOf(stories, story));
  }
  writeFileSync(join(cwd, "src", "base.mjs"), "export const base = 1;\n");
  writeFileSync(join(cwd, ".gitignore"), ".loop\n");
  git(cwd, "init", "-q", "-b", "main");
  git(cwd, "config", "user.name", "t");
  git(cwd, "config", "user.email", "t@localhost");
  commitAll(cwd);
  writePrd(cwd, stories, check);
  return cwd;
}

/** By itself: `--test` would start a second process for it. */
const testCommand = (n: number) => `node test/f${n}.test.mjs`;

function solutionOf({ n, dependsOn }: StoryWish): string {
  const imports = dependsOn.map((d) => `import { f${d} } from "./f${d}.mjs";\n`).join("");
  return `${imports}export const f${n} = (x) => ${["x", n, ...dependsOn.map((d) => `f${d}(x)`)].join(" + ")};\n`;
}

function testOf(stories: readonly StoryWish[], { n }: StoryWish): string {
  const value = (m: number): number =>
    1 + m + (stories.find((story) => story.n === m)?.dependsOn ?? []).reduce((sum, d) => sum + value(d), 0);
  return `import { strictEqual } from "node:assert";
import { test } from "node:test";
import { base } from "../src/base.mjs";
import { f${n} } from "../src/f${n}.mjs";
test("f${n} adds up", () => strictEqual(f${n}(base), ${value(n)}));
`;
}

export function writePrd(
  cwd: string,
  stories: readonly StoryWish[],
  check: (n: number) => string = testCommand,
): void {
  const userStories = stories.map(({ n, dependsOn }) => ({
    ...{ id: idOf(n), title: `Make f${n}`, description: `src/f${n}.mjs`, priority: n },
    ...{ acceptanceCriteria: [`f${n} adds up`], checks: [`f${n}=${check(n)}`] },
    dependsOn: dependsOn.map(idOf),
    passes: false,
    notes: "",
    rejections: 0,
    blocked: false,
  }));
  const prd = { project: "sums", branchName: "main", description: "Sums of sums.", userStories };
  writeFileSync(join(cwd, ".loop", "prd.json"), `${JSON.stringify(prd, null, 2)}\n`);
}

const PRELUDE = `
cat > /dev/null
note() { printf '%s %s %s %s\\n' "$1" "$LOOP_ROLE" "$LOOP_STORY" "$LOOP_FIRE_ID" >> "$BESIDE/log"; }
n=$(echo "\${LOOP_STORY#US-}" | sed 's/^0*//')
solve() { cp "$BESIDE/solutions/$LOOP_STORY.mjs" "src/f$n.mjs"; }
save() { [ $((n % 2)) = 0 ] || { git add -A; git commit -qm "feat: $LOOP_STORY"; }; }
pass() { printf 'It is as it should be.\\n\\n<verdict nonce="%s">PASS</verdict>\\n' "$LOOP_NONCE"; }
reject() { printf '\\n<verdict nonce="%s">REJECT</verdict>\\n<rejection_reason>%s</rejection_reason>\\n' "$LOOP_NONCE" "$1"; }
note begin
`;

/** Does what the story asks for, as a commit of its own or not, and passes what is there. */
export const HONEST = `
if [ "$LOOP_ROLE" = generator ]; then solve; save; echo "made f$n"; else pass; fi
`;

/** The command line of an agent that does these lines of shell in each turn. */
export function agentOf(cwd: string, lines: string = HONEST, name = "agent.sh"): string {
  writeFileSync(join(dirname(cwd), name), `${PRELUDE}\n${lines}\nnote end\n`);
  return `sh "$BESIDE/${name}"`;
}

/** How a command is run for a project of `makeBacklog`. */
export const besideOf = (cwd: string, env: RunOptions["env"] = {}) => ({
  ...{ cwd, env: { BESIDE: dirname(cwd), ...env } },
});

/** What the run would run is trusted first, as a person does it. */
export async function trust(cwd: string): Promise<void> {
  const result = await runHere(["trust", "--yes"], { cwd });
  expect(result.code, result.stderr).toBe(0);
}

export function runArgs(agent: string, ...flags: string[]): readonly string[] {
  return ["backlog", "run", ...flags, "--agent-cmd", agent];
}

export interface BacklogEndLine {
  readonly type: "backlog.end";
  readonly loop: string;
  readonly status: string;
  readonly passed: number;
  readonly total: number;
  readonly blocked: readonly string[];
  readonly iterations: number;
  readonly reason: string | null;
}

export interface BacklogRun extends Result {
  readonly lines: readonly (Record<string, unknown> & { readonly type: string })[];
  readonly end: BacklogEndLine;
}

/** With `--json`: every line is an object, and the last one is the end. */
export async function runBacklogJson(args: readonly string[], options: RunOptions): Promise<BacklogRun> {
  const result = await runLoop([...args, "--json"], options);
  return { ...result, ...readLines(result.stdout) };
}

export function readLines(stdout: string): Pick<BacklogRun, "lines" | "end"> {
  const lines = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as BacklogRun["lines"][number]);
  return { lines, end: lines.at(-1) as unknown as BacklogEndLine };
}

export interface StoryJson {
  readonly id: string;
  readonly passes: boolean;
  readonly blocked: boolean;
  readonly rejections: number;
  readonly notes: string;
}

export function storiesOf(cwd: string): readonly StoryJson[] {
  const text = readFileSync(join(cwd, ".loop", "prd.json"), "utf8");
  return (JSON.parse(text) as { readonly userStories: readonly StoryJson[] }).userStories;
}

export function passedOf(cwd: string): readonly string[] {
  return storiesOf(cwd).flatMap(({ id, passes }) => (passes ? [id] : []));
}

export interface NotedTurn {
  readonly what: string;
  readonly role: string;
  readonly story: string;
  readonly job: string;
}

/** What the agent wrote down, in the order in which it happened. */
export function turnsNoted(cwd: string): readonly NotedTurn[] {
  const file = join(dirname(cwd), "log");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [what = "", role = "", story = "", job = ""] = line.split(" ");
    return { what, role, story, job };
  });
}

/** The stories that a generator began with, in order. */
export function generated(cwd: string): readonly string[] {
  const begun = turnsNoted(cwd).filter(({ what, role }) => what === "begin" && role === "generator");
  return begun.map(({ story }) => story);
}

/** The repository is sound, and no worktree is left but the person's own. */
export function expectSoundRepository(cwd: string): void {
  expect(git(cwd, "fsck", "--full", "--no-dangling").trim(), "git fsck").toBe("");
  const worktrees = git(cwd, "worktree", "list").trim().split("\n");
  expect(worktrees.slice(1), "worktrees that are left").toEqual([]);
}

/** All tests of the repository, by hand. */
export function expectGreen(cwd: string): void {
  const run = spawnSync(process.execPath, ["--test"], { cwd, env: cleanEnv(cwd), encoding: "utf8" });
  expect(run.status, run.stdout).toBe(0);
}
