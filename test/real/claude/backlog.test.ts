/** `/loopwright backlog run` in the real Claude Code: the same machine, driven through its stop hook. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Story } from "../../../src/core/backlog/stories.ts";
import { isClaudeMissing, whyMissing } from "../../support/claude/claude-client.ts";
import { runClaude } from "../../support/claude/claude-headless.ts";
import { NO_CAP } from "../../support/claude/goal-in-claude.ts";
import { PLUGIN } from "../../support/claude/plugin.ts";
import { type Asked, type Reply, startScriptedModel } from "../../support/claude/scripted-model.ts";
import { makeProject, runLoop } from "../../support/cli.ts";
import { commitAll, git } from "../../support/goals/goal-cli.ts";

describe.skipIf(isClaudeMissing)(`a backlog inside Claude Code${whyMissing}`, () => {
  test("C5 C6 D3 generator and evaluator are sub-agents' prompts, the checks decide, and a lie is sent back", async () => {
    const project = makeProject();
    writeFileSync(join(project, "README"), "a project\n");
    git(project, "init", "-q", "-b", "main");
    commitAll(project);
    for (const n of [1, 2]) {
      const args = ["register-task", `story ${n}`, "--check", `there=test -e f${n}.txt`];
      expect((await runLoop(args, { cwd: project })).code).toBe(0);
    }
    expect((await runLoop(["trust", "--yes"], { cwd: project })).code).toBe(0);
    const seen: string[] = [];
    let hasLied = false;

    /** As the conversation answers what it is told last: it plays the sub-agents as well. */
    function answer({ messages }: Asked): Reply {
      const all = messages.map(({ text }) => text).join("\n");
      const at = all.lastIndexOf("[LOOP] Backlog: the ");
      const [, role = "", story = ""] = /the (\w+) of (US-\d+)\./.exec(all.slice(at)) ?? [];
      const nonce = /verdict nonce="([0-9a-f]+)"/.exec(all.slice(at))?.[1] ?? "";
      const key = `${role} ${story}`;
      if (role === "evaluator") {
        seen.push(key);
        return { kind: "text", text: `I ran it.\n\n<verdict nonce="${nonce}">PASS</verdict>` };
      }
      if (story === "US-002" && !hasLied) {
        hasLied = true;
        seen.push(`${key} lies`);
        return { kind: "text", text: "<promise>COMPLETE</promise>" };
      }
      if (seen.at(-1) === `${key} writes`) {
        seen.push(key);
        return { kind: "text", text: `Did ${story}.` };
      }
      seen.push(`${key} writes`);
      const file = `f${Number(story.slice(-3))}.txt`;
      return { kind: "tool", name: "Bash", input: { command: `echo done > ${file}` } };
    }

    const model = await startScriptedModel(answer);
    onTestFinished(() => model.close());
    const run = await runClaude(project, ["/loopwright backlog run", "--allowedTools", "Bash"], {
      model,
      pluginDir: PLUGIN,
      settings: NO_CAP,
    });
    expect(run.exitCode).toBe(0);
    expect(seen).toEqual([
      ...["generator US-001 writes", "generator US-001", "evaluator US-001"],
      ...["generator US-002 lies", "generator US-002 writes", "generator US-002", "evaluator US-002"],
    ]);
    expect(storiesOf(project)).toEqual([
      { id: "US-001", passes: true, rejections: 0 },
      { id: "US-002", passes: true, rejections: 1 },
    ]);
  }, 120_000);
});

function storiesOf(project: string): readonly Partial<Story>[] {
  const { userStories } = JSON.parse(readFileSync(join(project, ".loop/prd.json"), "utf8")) as {
    userStories: readonly Story[];
  };
  return userStories.map(({ id, passes, rejections }) => ({ id, passes, rejections }));
}
