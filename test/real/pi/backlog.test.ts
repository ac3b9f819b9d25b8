/** `/loop backlog run` in the real pi: pi has no sub-agents, so that the agents of stories are processes beside it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Story } from "../../../src/core/backlog/stories.ts";
import { isWorldMissing, whyWorldMissing } from "../../support/agents/worlds.ts";
import type { Asked, Reply } from "../../support/claude/scripted-model.ts";
import { leftovers, runLoop } from "../../support/cli.ts";
import { makePiWorld, openPi, PI_VERSIONS } from "../../support/pi-tui.ts";
import { hasTmux } from "../../support/tmux.ts";

describe.each(PI_VERSIONS)("E2 a backlog in %s", (version) => {
  const why = hasTmux ? whyWorldMissing(version) : " (no tmux)";

  test.skipIf(isWorldMissing(version) || !hasTmux)(
    `C5 C6 generator and evaluator have a context of their own, and the checks decide; the conversation stays free${why}`,
    async () => {
      const world = await makePiWorld(version);
      const { project, model, env } = world;
      const add = ["register-task", "story 1", "--check", "there=test -e f1.txt"];
      expect((await runLoop(add, { cwd: project, env })).code).toBe(0);
      expect((await runLoop(["trust", "--yes"], { cwd: project, env })).code).toBe(0);
      const seen: string[] = [];
      model.script(({ messages }: Asked): Reply => {
        const all = messages.map(({ text }) => text).join("\n");
        const nonce = /verdict nonce="([0-9a-f]+)"/.exec(all)?.[1];
        const isTool = messages.some(({ results }) => results.length > 0);
        if (nonce !== undefined) {
          seen.push("evaluator");
          return { kind: "text", text: `I ran it.\n\n<verdict nonce="${nonce}">PASS</verdict>` };
        }
        if (all.includes("how are you")) return { kind: "text", text: "very well" };
        if (isTool) return { kind: "text", text: "Did it." };
        seen.push(seen.length === 0 ? "generator lies" : "generator");
        return seen.length === 1
          ? { kind: "text", text: "<promise>COMPLETE</promise>" }
          : { kind: "tool", name: "bash", input: { command: "echo done > f1.txt" } };
      });
      const pi = await openPi(world);
      await pi.type("/loop backlog run");
      await pi.sees(/Loop Complete|LOOP_DONE/);
      await pi.type("how are you");
      await pi.sees(/very well/);
      expect(await pi.exit()).toBe(0);
      expect(seen).toContain("generator lies");
      expect(seen.at(-1)).toBe("evaluator");
      const prd = JSON.parse(readFileSync(join(project, ".loop", "prd.json"), "utf8")) as {
        userStories: readonly Story[];
      };
      expect(prd.userStories).toMatchObject([{ passes: true }]);
      expect(leftovers(project)).toEqual([]);
    },
    90_000,
  );
});
