/**
 * Backlogs as a user runs them: a repository with two commits, stories whose checks look for a word in a file, and
 * agents of a few lines of shell. What an agent was told, and what it wrote down, is kept beside the project.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checksText } from "../../src/core/backlog/accepted-checks.ts";
import { ensureLoopDir } from "../../src/store/folder/loop-dir.ts";
import { createTrustStore } from "../../src/store/folder/trust.ts";
import { cleanEnv, type Finish, LOOP, makeProject, runLoop } from "../support/cli.ts";

export interface StoryText {
  readonly id: string;
  readonly title: string;
  readonly checks: readonly string[];
  readonly priority?: number;
  readonly dependsOn?: readonly string[];
  readonly holdouts?: readonly string[];
  readonly acceptanceCriteria?: readonly string[];
}

export interface StoryNow extends StoryText {
  readonly passes?: boolean;
  readonly blocked?: boolean;
  readonly rejections?: number;
  readonly notes?: string;
}

/** Red until `<word>.txt` has the word in it. */
export function storyFor(id: string, word: string, more: Partial<StoryText> = {}): StoryText {
  return { id, title: `Write ${word}`, checks: [`${word}=grep -qx ${word} ${word}.txt`], ...more };
}

export const TWO_STORIES = [storyFor("US-001", "one"), storyFor("US-002", "two")];

/** Both roles are honest until a corpus says otherwise: `generator` works and commits, `evaluator` passes. */
const PRELUDE = `
cat > /dev/null
mkdir -p "$TURNS"
turn="$TURNS/\${LOOP_FIRE_ID##*-}"
cp "$LOOP_PROMPT_FILE" "$turn.prompt"
word() { case "$LOOP_STORY" in US-001) echo one;; US-002) echo two;; *) echo three;; esac; }
commit() { git add -A && git commit -qm "feat: $LOOP_STORY"; }
work() { word > "$(word).txt"; commit; echo "Wrote $(word)."; }
junk() { echo "$LOOP_FIRE_ID" > junk.txt; commit; }
lie() { echo "$LOOP_ROLE $LOOP_STORY: lied \${1:-}" >> "$NOTES"; }
tag() { printf '<verdict nonce="%s">%s</verdict>\\n' "\${2:-$LOOP_NONCE}" "$1"; }
pass() { printf 'I looked.\\n\\n'; tag PASS; }
reject() { printf 'I looked.\\n\\n'; tag REJECT; printf '<rejection_reason>%s</rejection_reason>\\n' "$1"; }
prd() {
  node -e '
    const { readFileSync, writeFileSync } = require("node:fs");
    const prd = JSON.parse(readFileSync(process.env.PRD, "utf8"));
    let stories = prd.userStories;
    const the = (id) => stories.find((story) => story.id === id);
    eval(process.argv[1]);
    writeFileSync(process.env.PRD, JSON.stringify({ ...prd, userStories: stories }));' "$1"
}
generator() { work; }
evaluator() { pass; }
`;

export interface BacklogOptions {
  readonly stories?: readonly StoryText[];
  readonly files?: Readonly<Record<string, string>>;
  /** What `.loop/config.json` has besides. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface BacklogProject {
  readonly cwd: string;
  readonly stories: readonly StoryText[];
  /** The commit before any agent ran. */
  readonly start: string;
}

/** Its path has spaces and quotes in it. A person has looked at its checks. */
export function makeBacklog(options: BacklogOptions, finish: Finish): BacklogProject {
  const { stories = TWO_STORIES.slice(0, 1), files = {}, config } = options;
  const cwd = makeProject(finish);
  const dir = ensureLoopDir(cwd);
  writeFileSync(join(dirname(cwd), "home", ".gitconfig"), GIT_CONFIG);
  git(cwd, "init", "-q");
  writeFileSync(join(dir, "prd.json"), `${JSON.stringify({ project: "words", userStories: stories })}\n`);
  if (config !== undefined) writeFileSync(join(dir, "config.json"), `${JSON.stringify(config)}\n`);
  git(cwd, "add", ".");
  git(cwd, "commit", "-qm", "first");
  for (const [name, text] of Object.entries({ "readme.txt": "Words.\n", ...files }))
    writeFileSync(join(cwd, name), text);
  git(cwd, "add", ".");
  git(cwd, "commit", "-qm", "second");
  const content = checksText(stories);
  createTrustStore(cleanEnv(cwd)).trust({ path: join(dir, "prd.json"), content }, Date.now());
  return { cwd, stories, start: git(cwd, "rev-parse", "HEAD") };
}

const GIT_CONFIG = `[user]
	name = Somebody
	email = somebody@localhost
[init]
	defaultBranch = main
[commit]
	gpgsign = false
`;

export function git(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, {
    cwd,
    env: cleanEnv(cwd),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

export interface ReceiptLine {
  readonly type: "story";
  readonly story: string;
  readonly iteration: number;
  readonly outcome: "passed" | "rejected" | "failed" | "interrupted";
  readonly reason: string | null;
}

export interface EndLine {
  readonly type: "backlog.end";
  readonly status: string;
  readonly passed: number;
  readonly total: number;
  readonly blocked: readonly string[];
  readonly iterations: number;
  readonly reason: string | null;
}

export interface BacklogRun {
  readonly code: number | null;
  readonly receipts: readonly ReceiptLine[];
  /** null: it could not be said. */
  readonly end: EndLine | null;
  /** What the file says at the end. */
  readonly stories: readonly StoryNow[];
  /** What agents wrote down. */
  readonly notes: string;
  readonly prompts: readonly string[];
  readonly stderr: string;
}

/** `agent`: functions `generator` and `evaluator`, in shell. Each has all of `PRELUDE`. */
export async function runStories(
  cwd: string,
  agent: string,
  flags: readonly string[] = [],
): Promise<BacklogRun> {
  const base = dirname(cwd);
  writeFileSync(join(base, "agent.sh"), `${PRELUDE}\n${agent}\n"$LOOP_ROLE"\n`);
  const env = {
    AGENT: join(base, "agent.sh"),
    NOTES: join(base, "notes.txt"),
    TURNS: join(base, "turns"),
    PROJECT: cwd,
    PRD: join(cwd, ".loop", "prd.json"),
    LOOP_COMMAND: LOOP,
  };
  const args = ["backlog", "run", ...flags, "--agent-cmd", 'sh "$AGENT"', "--json"];
  const { code, stdout, stderr } = await runLoop(args, { cwd, env });
  const lines = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return {
    code,
    stderr,
    stories: storiesIn(cwd),
    receipts: lines.filter(({ type }) => type === "story"),
    end: lines.find(({ type }) => type === "backlog.end") ?? null,
    notes: existsSync(env.NOTES) ? readFileSync(env.NOTES, "utf8") : "",
    prompts: promptsIn(env.TURNS),
  };
}

/** Each turn has a number. */
function promptsIn(dir: string): readonly string[] {
  const numbers = existsSync(dir) ? readdirSync(dir).map((name) => Number.parseInt(name, 10)) : [];
  return numbers.sort((a, b) => a - b).map((number) => readFileSync(join(dir, `${number}.prompt`), "utf8"));
}

/** None: the file is gone, or says nothing. */
export function storiesIn(cwd: string): readonly StoryNow[] {
  try {
    return JSON.parse(readFileSync(join(cwd, ".loop", "prd.json"), "utf8")).userStories;
  } catch {
    return [];
  }
}

/** Those of its checks that are red, asked by the test itself. */
export function redChecks(cwd: string, { checks }: StoryText): readonly string[] {
  return checks.filter((check) => {
    const command = check.slice(check.indexOf("=") + 1);
    return spawnSync("/bin/sh", ["-c", command], { cwd, env: cleanEnv(cwd) }).status !== 0;
  });
}

export function isReachable(cwd: string, commit: string): boolean {
  return git(cwd, "branch", "--all", "--contains", commit, "--format=%(refname)") !== "";
}
