/** C13: the worktrees of stories from the command line. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { worktreesCleanCommand, worktreesListCommand } from "../../../src/cli/setup/worktrees.ts";
import { commit, makeFolder, makeRepository, write } from "../../git/fixtures.ts";
import { left, made, traces, tracesOf } from "../../git/worktrees/worktrees-samples.ts";
import { listen } from "../../support/spoken.ts";

/** One each: merged, dirty, with a commit, active. */
async function setUp() {
  const cwd = makeRepository();
  const io = listen();
  await left(cwd);
  const dirty = await left(cwd, { story: "US-002" });
  write(dirty.path, { new: "1\n" });
  const open = await left(cwd, { story: "US-003" });
  write(open.path, { a: "2\n" });
  commit(open.path, "work");
  await made(cwd, { story: "US-004" });
  const answer = () => JSON.parse(io.stdout.splice(0).join("")) as Record<string, { id: string }[]>;
  return { cwd, io, flags: { project: cwd }, json: { project: cwd, json: true }, answer };
}

test("C13 the list says of each what it holds, for people and as JSON", async () => {
  const { cwd, io, flags, json, answer } = await setUp();
  expect(await worktreesListCommand(flags, io)).toBe(0);
  const lines = io.stdout.splice(0).join("\n").split("\n");
  const paths = `${cwd}.worktrees/`;
  expect(lines.map((line) => line.replace(paths, "…/").replaceAll(/ +/g, " "))).toEqual([
    "US-001 merged loop/US-001 …/US-001 All its commits are in main.",
    "US-002 dirty loop/US-002 …/US-002 new is not committed.",
    "US-003 open loop/US-003 …/US-003 It has 1 commit of loop/US-003 not in main.",
    `US-004 active loop/US-004 …/US-004 Process ${process.pid} uses it.`,
  ]);
  expect(io.stderr).toEqual(["1 of 4 can be removed with: loop worktrees clean"]);
  await worktreesListCommand(json, io);
  expect(answer().worktrees).toHaveLength(4);
  await worktreesListCommand(json, io);
  expect(answer().worktrees?.[1]).toEqual({
    id: "US-002",
    kind: "story",
    story: "US-002",
    branch: "loop/US-002",
    base: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
    path: join(`${cwd}.worktrees`, "US-002"),
    projectDir: join(`${cwd}.worktrees`, "US-002"),
    createdAt: expect.stringMatching(/^20\d\d-.*Z$/) as string,
    state: "dirty",
    why: "new is not committed.",
    isRemovable: false,
    unmerged: 0,
  });
});

test("C13 clean removes what is merged, says what stays and why; a dry run changes nothing", async () => {
  const { cwd, io, flags, json, answer } = await setUp();
  const before = traces(cwd);
  const path = join(`${cwd}.worktrees`, "US-001");
  expect(await worktreesCleanCommand({ ...flags, dryRun: true }, io)).toBe(0);
  expect(io.stdout.splice(0)).toEqual([`Would remove US-001 (${path}). All its commits are in main.`]);
  expect(traces(cwd)).toEqual(before);
  io.stderr.splice(0);
  expect(await worktreesCleanCommand(flags, io)).toBe(0);
  expect(io.stdout.splice(0)).toEqual([`Removed US-001 (${path}). All its commits are in main.`]);
  expect(io.stderr.splice(0)).toEqual([
    "US-002 stays. new is not committed.",
    "US-003 stays. It has 1 commit of loop/US-003 not in main.",
    `US-004 stays. Process ${process.pid} uses it.`,
  ]);
  expect([existsSync(path), traces(cwd)]).toEqual([false, tracesOf("US-002", "US-003", "US-004")]);
  await worktreesCleanCommand(json, io);
  const { removed, kept, problems } = answer();
  expect([removed, kept?.map(({ id }) => id), problems]).toEqual([[], ["US-002", "US-003", "US-004"], []]);
});

test("C13 where there are none it says so, with git or without", async () => {
  for (const cwd of [makeRepository(), makeFolder()]) {
    const io = listen();
    expect(await worktreesListCommand({ project: cwd }, io)).toBe(0);
    expect(await worktreesCleanCommand({ project: cwd }, io)).toBe(0);
    expect(io.stderr).toEqual(["There are no worktrees of stories here.", "There is nothing to remove."]);
    expect(io.stdout).toEqual([]);
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  }
});
