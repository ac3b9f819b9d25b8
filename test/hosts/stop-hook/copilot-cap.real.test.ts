/** GitHub Copilot CLI goes on after 8 stops of one prompt at most, whatever the agent did meanwhile. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isWorldMissing, whyWorldMissing } from "../../support/agents/worlds.ts";
import type { Script } from "../../support/claude/scripted-model.ts";
import { goalsOf, makeClientWorld, playTurns, runClient } from "../../support/goals/goal-in-client.ts";

const CAP = 8;
const TURNS = 12;
const SPEC = "Count up to the number in the file n. Done when n has it. Only that file.";

describe.skipIf(isWorldMissing("copilot"))(`E5 the cap of copilot${whyWorldMissing("copilot")}`, () => {
  test("E5 a long loop lets go when the cap is reached, and goes on with the person's next message to its end", {
    timeout: 180_000,
  }, async () => {
    const client = await makeClientWorld("copilot");
    const { model, project, world } = client;
    writeFileSync(join(project, "n"), "0\n");
    const turns = Array.from({ length: TURNS }, (_, index): readonly Script[] => [
      world.run(`echo ${index + 1} > n`),
      { kind: "text", text: "One more is counted." },
    ]);
    const play = playTurns(...turns);
    model.script(play.script);
    // one for every second number, so that some move in time for the breakers
    const checks = Array.from({ length: TURNS / 2 }, (_, index) => 2 * (index + 1)).map(
      (n) => `--check "n${n}=test $(cat n) -ge ${n}"`,
    );
    const goal = ["/loopwright until", ...checks, "--yes --exit-on proof --iterations 30", `"${SPEC}"`].join(
      " ",
    );
    const session = "7b0f5f52-3c1e-4c58-9d0a-5f3f6a1b2c3d";
    const copilot = (flag: string, prompt: string) =>
      runClient(client, [
        world.programs.copilot ?? "",
        "--allow-all-tools",
        `${flag}=${session}`,
        "-p",
        prompt,
      ]);
    expect((await copilot("--session-id", goal)).code).toBe(0);
    // the first came with the prompt
    expect(play.nonces).toHaveLength(CAP + 1);
    expect(goalsOf(project)[0]).toMatchObject({ end: null, status: "paused" });
    expect((await copilot("--resume", "/loopwright continue")).code).toBe(0);
    expect(play.nonces).toHaveLength(TURNS);
    expect(goalsOf(project)[0]).toMatchObject({ status: "completed", iteration: TURNS });
  });
});
