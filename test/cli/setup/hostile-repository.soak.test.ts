/**
 * A hostile repository: everything that was tried is a row in `fixtures/hostile-vectors.ts`. A person who clones or
 * unpacks it types every command except `loop trust --yes`. Nothing of the repository runs, nothing outside the project
 * changes, no command hangs, and each answers with sentences. Every row is also shown to be live.
 *
 * Links and pipes in place of files: `hostile-files.soak.test.ts`. A pull under a live runner: `hostile-pull.soak.test.ts`.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { FOREIGN } from "../../../src/store/signed/origin.ts";
import { ran, VECTORS } from "../../git/vectors.ts";
import { create, runLoop } from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";
import * as table from "./fixtures/hostile-vectors.ts";
import {
  ACTING,
  BRIEF,
  expectHarmless,
  expectLive,
  git,
  HIDDEN,
  LOOKING,
  makeRepository,
  plantAll,
  runByHand,
} from "./fixtures/hostile-world.ts";

test("H2 there are more than 150 vectors, each with its own name", () => {
  const { LOOPS, SETTINGS, CLIENTS, PROGRAMS, LINKS, LOGS, ENGINE_LINKS, INSTEAD_OF_FOLDER, GIT, PULLED } =
    table;
  const rows = [
    LOOPS,
    SETTINGS,
    CLIENTS,
    PROGRAMS,
    LINKS,
    LOGS,
    ENGINE_LINKS,
    INSTEAD_OF_FOLDER,
    GIT,
    PULLED,
  ];
  const names = [
    ...rows.flat().map(({ name }) => name),
    ...table.WRONG_SETTINGS.map(([name]) => `config.json with ${name}`),
    ...Object.keys(VECTORS).map((name) => `git: ${name}`),
    ...[...table.PIPES, ...table.ENGINE_PIPES].map((path) => `${path} is a pipe`),
    ...table.HUGE.map(([path]) => `${path} has 5 GB`),
    ...table.TEXTS.map(({ name }) => `a terminal obeys ${name}`),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(150);
});

describe("H2 before trust", () => {
  test("loops that come with a clone are shown as foreign, and do not run", async () => {
    const world = plantAll(table.LOOPS, "clone");
    const told = await expectHarmless(world);
    for (const args of ["list", "history", "status"])
      expect.soft(told.find((each) => each.args === args)?.stderr, args).toContain(FOREIGN);
    expect(told.find(({ args }) => args.startsWith("up"))).toMatchObject({ code: 1, stdout: "" });
    expectLive(table.LOOPS, world);
  });

  test("the same loops run after trust, and trust shows their commands first", async () => {
    const vectors = table.LOOPS.slice(0, 10);
    const world = plantAll(vectors, "clone");
    git(world.cwd, "rm", "-rq", "--cached", ".loop");
    const { stdout } = await runHere(["trust"], { cwd: world.cwd });
    for (const { command } of world.spots) expect.soft(stdout).toContain(command);
    expect(world.marks()).toEqual([]);
    expect((await runHere(["trust", "--yes"], { cwd: world.cwd })).code).toBe(0);
    await runLoop(["up", "--for", "4s", "--agent-cmd", "cat"], { cwd: world.cwd });
    expect(world.marks()).toEqual(expect.arrayContaining([vectors[0]?.name, vectors[3]?.name]));
  });

  test("settings and files of other programs start nothing", async () => {
    const vectors = [...table.SETTINGS, ...table.CLIENTS];
    const world = plantAll(vectors, "clone");
    const told = await expectHarmless(world);
    const goal = told.find(({ args }) => args.startsWith("until --check"));
    expect(goal).toMatchObject({ code: 1, stderr: expect.stringContaining("you have not trusted them yet") });
    expectLive(vectors, world);
  });

  test("the same settings run after trust", async () => {
    const world = plantAll(table.SETTINGS, "clone");
    expect((await runHere(["trust", "--yes"], { cwd: world.cwd })).code).toBe(0);
    const goal = ["until", "--check", "ok=true", "mend it", "--agent-cmd", "true", "--iterations", "1"];
    await runLoop([...goal, "--yes", "--force"], { cwd: world.cwd });
    const wanted = ["a check in config.json", "a criterion in SHAPE.md", "a must-not in SHAPE.md"];
    expect(world.marks()).toEqual(expect.arrayContaining(wanted));
  });

  test("a wrong config.json is a sentence, whatever is in it", async () => {
    const vectors = [{ name: "a wrong config.json", plant: () => {} }];
    for (const [name, render] of table.WRONG_SETTINGS) {
      const world = plantAll(vectors);
      mkdirSync(join(world.cwd, ".loop"));
      writeFileSync(join(world.cwd, ".loop", "config.json"), render(world.spots[0]?.command ?? ""));
      const before = world.outside();
      for (const args of [...LOOKING, ...ACTING].filter(([word]) =>
        /^(?:list|doctor|trust|5m|until|backlog|agents|1s)$/.test(word ?? ""),
      )) {
        const { stdout, stderr } = await runHere(args, { cwd: world.cwd });
        expect
          .soft(`${stdout}${stderr}`, `${name}: loop ${args.join(" ")}`)
          .not.toMatch(/Maximum call|undefined|\n +at /);
        expect
          .soft(HIDDEN.exec(`${stdout}${stderr}`)?.[0], `${name}: loop ${args.join(" ")}`)
          .toBeUndefined();
      }
      expect.soft(world.marks(), name).toEqual([]);
      expect.soft(world.outside(), name).toEqual(before);
    }
  });

  test("programs of the project do not run, wherever the PATH and the environment lead", async () => {
    const world = plantAll(table.PROGRAMS);
    const [spot] = world.spots;
    if (spot === undefined) throw new Error("no vector");
    const env = { PATH: table.hostilePath(world.cwd), ...table.hostileVariables(spot) };
    // the commands of the person's own checks and agents are found as in a shell, so they are full paths here
    const commands = [...BRIEF, ...ACTING].filter((args) => !args.includes("true") && !args.includes("cat"));
    await expectHarmless(world, { env, commands, agent: "/bin/cat" });
    expectLive(table.PROGRAMS, world);
  });

  test("git starts nothing, and no folder of the victim's is removed", async () => {
    const world = plantAll(table.GIT);
    for (const { plant } of Object.values(VECTORS)) plant(world.cwd);
    rmSync(join(dirname(world.cwd), "ran"), { force: true });
    await expectHarmless(world);
    await runHere(["list"], { cwd: join(world.cwd, "bare") });
    await runHere(["doctor"], { cwd: join(world.cwd, "bare") });
    expect(ran(world.cwd)).toEqual([]);
    expect(world.marks()).toEqual([]);
    runByHand("git status; git add -A; git diff", world.cwd);
    expect(ran(world.cwd)).toEqual(
      expect.arrayContaining(["core.fsmonitor", "filter.clean", "include.path"]),
    );
    expectLive(table.GIT, world);
  });
});

test("H5 nothing that a terminal obeys is printed", async () => {
  const world = plantAll(table.TEXTS);
  await expectHarmless(world);
  const files = [".loop/journal.jsonl", ".loop/prd.json", ".mcp.json", "package.json"];
  // live: a program that prints what it read would print the sequences
  for (const file of files)
    expect(
      JSON.stringify(JSON.parse(`[${readFileSync(join(world.cwd, file), "utf8").split("\n", 1)[0]}]`)),
    ).toMatch(/\\u001b/);
});

test("H5 nor when tasks.json of the person's own loops asks for a command", async () => {
  const cwd = makeRepository();
  await create(cwd, "1h", "mine", "--no-now");
  const task = { id: "abcd1234", prompt: table.NASTY, everyMs: 1_000, expect: `touch x${table.NASTY}` };
  writeFileSync(join(cwd, ".loop", "tasks.json"), JSON.stringify({ tasks: [task] }));
  for (const args of [["list"], ["trust"], ["doctor"], ["5m", "more", "--no-now"]]) {
    const { stdout, stderr } = await runHere(args, { cwd });
    expect.soft(HIDDEN.exec(`${stdout}${stderr}`)?.[0], args.join(" ")).toBeUndefined();
  }
  expect((await runHere(["list"], { cwd })).stderr).toContain("that you have not trusted: `touch x");
});
