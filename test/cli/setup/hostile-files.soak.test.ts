/** Links, second names, pipes and devices where a hostile repository should have files (`hostile-repository.soak.test.ts`). */
import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runHere } from "../../support/here.ts";
import * as table from "./fixtures/hostile-vectors.ts";
import { ACTING, BRIEF, expectHarmless, expectLive, plantAll } from "./fixtures/hostile-world.ts";

describe("H4 J4 never out of the project", () => {
  test.each([
    ["files that are links", table.LINKS],
    [
      "files that are links, except those that are read first",
      table.LINKS.filter(({ name }) => table.isReadLater(name)),
    ],
    ["logs and records with a second name", table.LOGS],
    ["the journal and tasks.json as links", table.ENGINE_LINKS],
  ])("%s", async (_, vectors) => {
    const world = plantAll(vectors);
    await expectHarmless(world, { isBrief: true });
    const planted = plantAll(vectors);
    expectLive(vectors, planted);
  });

  test.each(table.INSTEAD_OF_FOLDER.map((vector) => [vector.name, vector] as const))(
    "%s",
    async (_, vector) => {
      const world = plantAll([vector]);
      await expectHarmless(world, { commands: [...BRIEF, ...ACTING], isBrief: true });
      expectLive([vector], world);
    },
  );

  test.each([
    ["any file", table.PIPES, BRIEF.filter((args) => args.length < 3)],
    ["any file that is read later", table.PIPES.filter(table.isReadLater), [...BRIEF, ...ACTING]],
    ["the journal, tasks.json or runs", table.ENGINE_PIPES, BRIEF.filter((args) => args.length < 3)],
  ])("a pipe in place of %s blocks nothing", async (_, pipes, typed) => {
    const world = plantAll([]);
    for (const path of pipes) table.makePipe(join(world.cwd, path));
    // live: another program would wait for ever
    const read = () => execFileSync("cat", [join(world.cwd, pipes[0] ?? "")], { timeout: 300 });
    expect(read).toThrow(/ETIMEDOUT/);
    const files = [
      ["until", "--prompt-file", "SPEC.md", "--dry-run"],
      ["until", "x", "--steps", "SPEC.md", "--dry-run"],
      ["backlog", "import", "SPEC.md"],
    ];
    const commands = [...typed, ...files];
    await expectHarmless(world, { isApart: true, isBrief: true, commands });
  });

  test("a file of 5 GB is a sentence", async () => {
    for (const [path, commands] of table.HUGE) {
      const world = plantAll([]);
      mkdirSync(dirname(join(world.cwd, path)), { recursive: true });
      writeFileSync(join(world.cwd, path), "");
      truncateSync(join(world.cwd, path), 5 * 1024 ** 3);
      for (const args of commands) {
        const { stdout, stderr } = await runHere(args, { cwd: world.cwd });
        const said = `${path}: loop ${args.join(" ")}`;
        if (path.endsWith("origin")) expect.soft(stderr, said).not.toMatch(/loop:/);
        else expect.soft(`${stdout}${stderr}`, said).toContain("is larger than 256 MB.");
      }
    }
  });
});
