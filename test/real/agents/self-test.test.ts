/** `loop agents test` with every real agent that is installed; pi is in test/cli/agents/agents-self-test.soak.test.ts. */
import { describe, test } from "vitest";
import { expectSelfTest } from "../../support/agents/self-test.ts";
import {
  expectWorld,
  isWorldMissing,
  isWorldRequired,
  type WorldName,
  whyWorldMissing,
} from "../../support/agents/worlds.ts";

const AGENTS: readonly (readonly [WorldName, string])[] = [
  ["claude", "claude"],
  ["claude-acp", "claude:acp"],
  ["codex", "codex"],
  ["codex", "codex:stream"],
  ["gemini", "gemini"],
  ["opencode", "opencode"],
  ["copilot", "copilot"],
  ["qwen", "qwen"],
];

for (const [world, agent] of AGENTS) {
  test.skipIf(!isWorldRequired(world))(`${agent} is there when it is required`, () => expectWorld(world));

  describe.skipIf(isWorldMissing(world))(`the real ${agent} (E3)${whyWorldMissing(world)}`, () => {
    test(
      "E3 loop agents test: it does all that loops need",
      ({ onTestFinished }) => expectSelfTest(world, agent, onTestFinished),
      120_000,
    );
  });
}
