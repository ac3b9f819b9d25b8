/** `loop agents` where a program on the PATH never answers. */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { leftovers, loopJson, makeProject } from "../../support/cli.ts";

interface AgentsJson {
  readonly agents: readonly {
    readonly name: string;
    readonly version: string | null;
    readonly problem: string | null;
  }[];
}

function install(cwd: string, name: string, script: string): void {
  writeFileSync(join(dirname(cwd), "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

test("F1 a hanging program costs ten seconds, and the others are listed all the same", async () => {
  const cwd = makeProject();
  install(cwd, "codex", "sleep 600 & wait");
  install(cwd, "pi", "echo 0.73.1");
  const { agents } = await loopJson<AgentsJson>(["agents"], { cwd });
  expect(agents.find(({ name }) => name === "codex")?.problem).toBe("did not print a version within 10 s");
  expect(agents.find(({ name }) => name === "pi")?.version).toBe("0.73.1");
  expect(leftovers(cwd)).toEqual([]);
});
