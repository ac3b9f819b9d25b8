/** `.loop/prd.json` on disk: several processes, people's editors, and whatever else may lie there. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { markBlocked, markComplete, registerStory } from "../../../src/core/backlog/prd/registry.ts";
import type { Story } from "../../../src/core/backlog/stories.ts";
import { changeStories, loadPrd, prdPath, readPrd } from "../../../src/store/files/prd-file.ts";
import { procStart } from "../../../src/system/process.ts";
import { aDraft } from "../../core/backlog/story-samples.ts";
import { until } from "../../support/until.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const ONE = '{\n    "theirs": [1],\n    "userStories": [{ "id": "A", "title": "a", "estimate": 3 }]\n}\n';

function project(text?: string): string {
  const root = tempDir();
  if (text !== undefined) {
    mkdirSync(join(root, ".loop"));
    writeFileSync(prdPath(root), text);
  }
  return root;
}

const adding = (title: string) => (stories: readonly Story[]) => registerStory(stories, aDraft({ title }));
const filesOf = (root: string) => readdirSync(join(root, ".loop")).sort();
const lockOf = (root: string) => join(root, ".loop", "prd.lock.tmp");

describe("D8 C2 reading and writing", () => {
  test("no file is no story; the first one makes the folder and the file, for its owner only", async () => {
    const root = project();
    expect([readPrd(root), loadPrd(root)]).toEqual([{ kind: "absent" }, null]);
    await changeStories(root, adding("Log in"));
    expect(loadPrd(root)?.prd).toMatchObject({ project: basename(root), stories: [{ id: "US-001" }] });
    expect(statSync(prdPath(root)).mode & 0o777).toBe(0o600);
    expect(filesOf(root)).toEqual([".gitignore", "origin", "prd.json"]);
  });

  test("what was there stays: other keys, and how it is indented", async () => {
    const root = project(ONE);
    await changeStories(root, (stories) => markComplete(stories, "A"));
    const text = readFileSync(prdPath(root), "utf8");
    expect(JSON.parse(text)).toEqual({
      theirs: [1],
      userStories: [{ id: "A", title: "a", estimate: 3, passes: true }],
    });
    expect(text).toMatch(/^ {4}"theirs"/m);
  });

  test("H5 a change that is refused writes nothing, not even the folder", async () => {
    const root = project();
    expect(await changeStories(root, (stories) => markComplete(stories, "A"))).toMatchObject({
      kind: "refused",
    });
    expect(existsSync(join(root, ".loop"))).toBe(false);
    const other = project(ONE);
    expect(await changeStories(other, (stories) => markComplete(stories, "B"))).toMatchObject({
      kind: "refused",
    });
    expect([readFileSync(prdPath(other), "utf8"), filesOf(other)]).toEqual([ONE, ["prd.json"]]);
  });

  test.each([
    ["{", /prd\.json: not JSON: .*\.$/],
    ["", /prd\.json: not JSON: .*\.$/],
    [
      '{"userStories":[{"id":"A","title":"a","priority":"high"}]}',
      /prd\.json: userStories\[0\]\.priority: expected [^.]*\.$/,
    ],
  ])("C2 A13 %j is said and never overwritten", async (text, sentence) => {
    const root = project(text);
    expect(readPrd(root)).toEqual({ kind: "broken", message: expect.stringMatching(sentence) });
    expect(() => loadPrd(root)).toThrow(sentence);
    await expect(changeStories(root, adding("x"))).rejects.toThrow(sentence);
    expect([readFileSync(prdPath(root), "utf8"), filesOf(root)]).toEqual([text, ["prd.json"]]);
  });

  test("H4 a link is not followed, wherever it leads; nor is a folder that leads out", async () => {
    const root = project(ONE);
    const outside = join(tempDir(), "prd.json");
    writeFileSync(outside, ONE);
    rmSync(prdPath(root));
    symlinkSync(outside, prdPath(root));
    expect(() => readPrd(root)).toThrow(/symbolic link/);
    await expect(changeStories(root, adding("x"))).rejects.toThrow(/symbolic link/);
    expect([readFileSync(outside, "utf8"), filesOf(root)]).toEqual([ONE, ["prd.json"]]);

    const led = project();
    symlinkSync(join(outside, ".."), join(led, ".loop"));
    expect(() => readPrd(led)).toThrow(/leads out of the project/);
    await expect(changeStories(led, adding("x"))).rejects.toThrow(/leads out of the project/);
  });

  test("H4 a folder or a pipe in its place is one sentence, at once", () => {
    const root = project(ONE);
    rmSync(prdPath(root));
    mkdirSync(prdPath(root));
    expect(() => readPrd(root)).toThrow(/^Cannot read .*: it is a folder\.$/);
    rmSync(prdPath(root), { recursive: true });
    execFileSync("mkfifo", [prdPath(root)]);
    expect(() => readPrd(root)).toThrow(
      /prd\.json is not a plain file \(it is a pipe, a socket or a device\)\.$/,
    );
  });

  test("H1 what cannot be written is one sentence", async () => {
    const root = project(ONE);
    let calls = 0;
    const changing = changeStories(root, (stories) => {
      calls += 1;
      if (calls === 2) rmSync(join(root, ".loop"), { recursive: true });
      return markComplete(stories, "A");
    });
    await expect(changing).rejects.toThrow(/^Cannot write .*prd\.json: its folder does not exist\.$/);
  });
});

describe("A12 two at once lose nothing", () => {
  test("what an editor saves between reading and writing is kept, and the change is decided anew", async () => {
    const root = project(ONE);
    const edited = ONE.replace('"a"', '"edited"');
    let calls = 0;
    const change = await changeStories(root, (stories) => {
      calls += 1;
      // the second call is the one that is about to be written
      if (calls === 2) writeFileSync(prdPath(root), edited);
      return markBlocked(stories, "A", `call ${calls}`);
    });
    expect(change).toMatchObject({ story: { title: "edited", notes: "[BLOCKED] call 3" } });
    expect(loadPrd(root)?.prd.stories).toMatchObject([{ title: "edited", blocked: true }]);
    expect(filesOf(root)).toEqual([".gitignore", "origin", "prd.json"]);
  });

  test("what somebody breaks meanwhile is left as it is", async () => {
    const root = project(ONE);
    let calls = 0;
    const changing = changeStories(root, (stories) => {
      calls += 1;
      if (calls === 2) writeFileSync(prdPath(root), "{");
      return markComplete(stories, "A");
    });
    await expect(changing).rejects.toThrow(/not JSON/);
    expect(readFileSync(prdPath(root), "utf8")).toBe("{");
  });

  test("a file that somebody created meanwhile is not replaced", async () => {
    const root = project();
    let calls = 0;
    await changeStories(root, (stories) => {
      calls += 1;
      if (calls === 2) writeFileSync(prdPath(root), ONE);
      return registerStory(stories, aDraft({ id: "B" }));
    });
    expect(loadPrd(root)?.prd.stories.map(({ id }) => id)).toEqual(["A", "B"]);
  });

  test("whoever comes while another holds the lock waits for it", async () => {
    const root = project(ONE);
    const holder = { host: hostname(), pid: process.pid, start: procStart(process.pid) };
    writeFileSync(lockOf(root), JSON.stringify(holder));
    let isOver = false;
    let calls = 0;
    const changing = changeStories(root, (stories) => {
      calls += 1;
      return markComplete(stories, "A");
    }).then(() => {
      isOver = true;
    });
    await until(() => calls === 1, "it has decided once");
    let looks = 0;
    await until(() => ++looks > 10, "it had the time to write");
    expect([isOver, calls, readFileSync(prdPath(root), "utf8")]).toEqual([false, 1, ONE]);
    rmSync(lockOf(root));
    await changing;
    expect(loadPrd(root)?.prd.stories).toMatchObject([{ passes: true }]);
  });

  test.each([
    ["of a process that is gone", JSON.stringify({ host: hostname(), pid: 2 ** 22 + 1, start: null }), 0],
    [
      "of an earlier process with a pid that is in use",
      JSON.stringify({ host: hostname(), pid: process.pid, start: "before" }),
      0,
    ],
    ["that was never filled, and is old", "", 60],
    ["of another machine, and old", JSON.stringify({ host: "elsewhere", pid: 1, start: null }), 60],
  ])("H1 a lock %s holds nobody up", async (_, text, ageS) => {
    const root = project(ONE);
    writeFileSync(lockOf(root), text);
    const then = Date.now() / 1000 - ageS;
    utimesSync(lockOf(root), then, then);
    await changeStories(root, (stories) => markComplete(stories, "A"));
    expect(filesOf(root)).toEqual([".gitignore", "origin", "prd.json"]);
  });
});
