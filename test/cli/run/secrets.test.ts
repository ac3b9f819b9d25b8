/** J7 H3: no secret of the environment, and no known token, in anything that the engine stores, shows or sends. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { agentOf, besideOf, makeBacklog, runArgs, trust } from "../../support/backlog/backlog-cli.ts";
import { makeProject, runLoop } from "../../support/cli.ts";
import { makeAgent, makeRepository, untilArgs } from "../../support/goals/goal-cli.ts";
import { KNOWN } from "../../support/secrets.ts";

const DEPLOY_TOKEN = "q8Zr41xW-from-the-environment";
const DATABASE_URL = "postgres://app:dbPw77Qz@db.example/app";
const FORM = KNOWN[0]?.secret ?? "";
const KEY = KNOWN.find(({ name }) => name === "private key")?.secret ?? "";
const SECRETS = [DEPLOY_TOKEN, "dbPw77Qz", FORM, ...KEY.split("\n").slice(1, -1)];
const env = { DEPLOY_TOKEN, DATABASE_URL };

/** Every file below, and what the command printed. */
function everything(folder: string, ...printed: readonly string[]): readonly (readonly [string, string])[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return [
    ...files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path, readFileSync(path, "utf8")] as const;
    }),
    ...printed.map((text) => ["printed", text] as const),
  ];
}

function leaks(all: readonly (readonly [string, string])[]): readonly string[] {
  return all.flatMap(([where, text]) =>
    SECRETS.filter((secret) => text.includes(secret)).map((secret) => `${where}: ${secret}`),
  );
}

/** Prints all secrets, in two writes each, on both streams. */
function leaky(cwd: string, ...lines: string[]): string {
  writeFileSync(join(dirname(cwd), "leak.txt"), `form ${FORM} end\n${KEY}\n`);
  const leak = [
    `printf '%s' 'token is q8Zr41'; sleep 0.05; printf '%s\\n' 'xW-from-the-environment'`,
    'echo "database $DATABASE_URL"',
    'cat "$(dirname "$LOOP_PROJECT")/leak.txt" 2>/dev/null || cat ../leak.txt',
  ].join("\n");
  return makeAgent(cwd, `leak() {\n${leak}\n}`, "leak", "leak >&2", ...lines);
}

describe("J7 a goal", () => {
  test("keeps no secret of the agent or of a check, and the next turn gets none", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = leaky(cwd, "report false open", 'test "$LOOP_ITERATION" = 1 || exit 3');
    writeFileSync(join(cwd, "check.sh"), 'echo "check says $DEPLOY_TOKEN"\ncat ../leak.txt\nexit 1\n');
    const notify = 'cat >> ../notices.txt; echo "$LOOP_BODY" >> ../notices.txt';
    const args = [...untilArgs(agent, "--iterations", "2"), "--notify-cmd", notify];
    const { stdout, stderr } = await runLoop([...args, "--json"], { cwd, env });
    const shown = await Promise.all(
      [["report"], ["status"], ["status", "--json"], ["history"], ["list", "--json"]].map((words) =>
        runLoop(words, { cwd }),
      ),
    );
    const all = everything(dirname(cwd), stdout, stderr, ...shown.map((each) => each.stdout));
    expect(leaks(all.filter(([path]) => !path.endsWith("leak.txt")))).toEqual([]);
    // it was there: the mask took its place, in the answer, the evidence and the prompt of the second turn
    const journal = readFileSync(join(cwd, ".loop/journal.jsonl"), "utf8");
    expect(journal).toContain("[masked: DEPLOY_TOKEN]");
    const prompts = all.filter(([path]) => path.endsWith(".prompt")).map(([, text]) => text);
    expect(prompts.at(-1)).toContain("check says [masked: DEPLOY_TOKEN]");
    const answers = all.filter(([path]) => path.endsWith("answer.txt")).map(([, text]) => text);
    expect(answers[0]).toMatch(/token is \[masked: DEPLOY_TOKEN\**\]\n/);
  });

  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ["--no-mask", {}, ["--no-mask"]],
    ["LOOP_NO_MASK=1", { LOOP_NO_MASK: "1" }, []],
  ])("%s keeps everything as it was", async (_, more, flags) => {
    const cwd = makeRepository();
    const agent = leaky(cwd, "touch done.txt", "report true");
    const { stdout } = await runLoop([...untilArgs(agent, ...flags), "--json"], {
      cwd,
      env: { ...env, ...more },
    });
    expect(leaks(everything(join(cwd, ".loop"), stdout)).length).toBeGreaterThan(3);
  });
});

describe("J7 a backlog", () => {
  test("keeps no secret of a verdict, a check or a file of the agent, and the next attempt gets none", async () => {
    const cwd = makeBacklog({
      stories: [{ n: 1, dependsOn: [] }],
      check: () => 'echo "check: $DEPLOY_TOKEN"; test -f src/f1.mjs',
    });
    const agent = agentOf(
      cwd,
      `cp "$LOOP_PROMPT_FILE" "$BESIDE/$LOOP_FIRE_ID.prompt"
if [ "$LOOP_ROLE" = generator ]; then solve; save; echo "- learned $DEPLOY_TOKEN" >> .loop/progress.md
else reject "the file has $DEPLOY_TOKEN in it"; fi`,
    );
    await trust(cwd);
    const { stdout, stderr } = await runLoop([...runArgs(agent, "2"), "--json"], besideOf(cwd, env));
    const all = everything(dirname(cwd), stdout, stderr);
    // the agent itself wrote into progress.md
    expect(leaks(all.filter(([path]) => !path.endsWith("progress.md")))).toEqual([]);
    const prompts = all.filter(([path]) => path.endsWith(".prompt")).map(([, text]) => text);
    expect(prompts.some((text) => text.includes("the file has [masked: DEPLOY_TOKEN] in it"))).toBe(true);
    expect(prompts.some((text) => text.includes("- learned [masked: DEPLOY_TOKEN]"))).toBe(true);
  });
});

describe("J7 a task", () => {
  test("keeps no secret of its agent and of its postcondition", async () => {
    const cwd = makeProject();
    const agent = leaky(cwd, 'echo "failed with $DEPLOY_TOKEN" >&2', "exit 9");
    await runLoop(["1d", "look around", "--detach", "--expect", "true"], { cwd, env });
    const { stdout, stderr } = await runLoop(["up", "--for", "2s", "--agent-cmd", agent], { cwd, env });
    const shown = await runLoop(["history", "--json"], { cwd });
    expect(shown.stdout).toContain("failed with [masked: DEPLOY_TOKEN]");
    expect(leaks(everything(join(cwd, ".loop"), stdout, stderr, shown.stdout))).toEqual([]);
  });
});

describe("J7 the person's own words", () => {
  test("are kept, with a warning that names the secret", async () => {
    const cwd = makeRepository();
    const args = ["until", "--detach", "--check", `api=curl -H 'Authorization: Bearer ${DEPLOY_TOKEN}' x`];
    const { stderr } = await runLoop([...args, "--agent-cmd", "true", "Call the API."], { cwd, env });
    expect(stderr).toContain("Your words contain a secret (DEPLOY_TOKEN), and they are stored in .loop.");
    expect(stderr).not.toContain(DEPLOY_TOKEN);
    const task = await runLoop(["1d", "--detach", `use ${FORM}`], { cwd, env });
    expect(task.stderr).toContain("Your words contain a secret (GitHub token)");
    const harmless = await runLoop(["1d", "--detach", "use $DEPLOY_TOKEN"], { cwd, env });
    expect(harmless.stderr).not.toContain("secret");
  });
});
