/** What a pull brings while a runner of the victim's own loops runs (`hostile-repository.soak.test.ts`). */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, runLoop, startLoop } from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";
import * as table from "./fixtures/hostile-vectors.ts";
import { git, makeRepository, quoted } from "./fixtures/hostile-world.ts";

/** A clone with a task of its own and a live runner. Upstream commits the vector, and the person pulls. */
async function pullUnderRunner(vector: (typeof table.PULLED)[number]) {
  const upstream = makeRepository();
  vector.before?.(upstream);
  const cwd = makeRepository();
  rmSync(cwd, { recursive: true });
  git(dirname(cwd), "clone", "-q", "--recurse-submodules", upstream, cwd);
  await create(cwd, "1h", "mine", "--no-now");
  const mark = join(dirname(cwd), "PWNED");
  const up = startLoop(["up", "--agent-cmd", `cat > ${quoted(`${mark}-prompt`)}`], { cwd });
  await until(() => existsSync(join(cwd, ".loop", "loop.lock")), "the runner holds the lease");
  vector.plant(upstream, `touch ${quoted(mark)}`);
  git(upstream, "add", "-A", "-f");
  git(upstream, "commit", "-qm", "hostile");
  await vector.pull(cwd);
  const hasRun = () => existsSync(mark) || existsSync(`${mark}-prompt`);
  return { name: vector.name, cwd, up, hasRun };
}

describe("H2 a pull under a live runner", () => {
  test("runs nothing of it within 5 s, and nothing when it starts again", async () => {
    const pulled: Awaited<ReturnType<typeof pullUnderRunner>>[] = [];
    for (const vector of table.PULLED) pulled.push(await pullUnderRunner(vector));
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    for (const { name, hasRun, up } of pulled) {
      expect.soft(hasRun(), name).toBe(false);
      up.signal("SIGTERM");
      await up.ended;
    }
    const again = ["up", "--for", "2s", "--agent-cmd", "cat"];
    await Promise.all(pulled.map(({ cwd }) => runLoop(again, { cwd })));
    for (const { name, hasRun } of pulled) expect.soft(hasRun(), `${name}, again`).toBe(false);
  });

  test("the same file runs if a person writes it and trusts it", async () => {
    const cwd = makeRepository();
    await create(cwd, "1h", "mine", "--no-now");
    const mark = join(dirname(cwd), "PWNED");
    const task = {
      id: "abcd1234",
      prompt: "theirs",
      everyMs: 1_000,
      expect: `touch ${JSON.stringify(mark)}`,
    };
    writeFileSync(join(cwd, ".loop", "tasks.json"), JSON.stringify({ tasks: [task] }));
    expect((await runHere(["trust", "--yes"], { cwd })).code).toBe(0);
    await runLoop(["up", "--for", "3s", "--agent-cmd", "cat"], { cwd });
    expect(existsSync(mark)).toBe(true);
  });
});
