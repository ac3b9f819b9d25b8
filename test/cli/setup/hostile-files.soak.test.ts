/** Links, second names, pipes and devices where a hostile repository should have files (`hostile-repository.soak.test.ts`). */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
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
});
