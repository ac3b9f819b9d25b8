/** `.loop/prd.json` while real processes write it at once, and while one of them is killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { registerStory } from "../../../src/core/backlog/prd/registry.ts";
import { changeStories, loadPrd } from "../../../src/store/files/prd-file.ts";
import { aDraft } from "../../core/backlog/story-samples.ts";
import { until } from "../../support/until.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

describe("A12 H1 real processes", () => {
  let folder = "";
  let script = "";

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "loopwright-prd-"));
    script = join(folder, "prd-process.mjs");
    await build({
      entryPoints: [fileURLToPath(new URL("../fixtures/prd-process.ts", import.meta.url))],
      outfile: script,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
      logLevel: "error",
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function start(root: string, name: string, count: number) {
    const child = spawn(process.execPath, [script, root, name, String(count)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    return { child, done: () => output.split("\n").slice(0, -1), closed: once(child, "close") };
  }

  test("three that register at once: every story is there, once, under an id of its own", async () => {
    const root = tempDir();
    const each = 15;
    const running = ["a", "b", "c"].map((name) => start(root, name, each));
    for (const [code] of await Promise.all(running.map(({ closed }) => closed))) expect(code).toBe(0);
    const stories = loadPrd(root)?.prd.stories ?? [];
    expect(stories.map(({ title }) => title).sort()).toEqual(running.flatMap(({ done }) => done()).sort());
    expect(stories).toHaveLength(3 * each);
    expect(new Set(stories.map(({ id }) => id)).size).toBe(3 * each);
  });

  test("one that is killed loses nothing that it said, and holds nobody up", async () => {
    const root = tempDir();
    for (const name of ["a", "b", "c"]) {
      const writer = start(root, name, 10_000);
      await until(() => writer.done().length >= 3, "it has written");
      writer.child.kill("SIGKILL");
      await writer.closed;
      await changeStories(root, (stories) => registerStory(stories, aDraft({ title: `after ${name}` })));
      const titles = loadPrd(root)?.prd.stories.map(({ title }) => title) ?? [];
      expect(titles).toEqual(expect.arrayContaining([...writer.done(), `after ${name}`]));
    }
  });
});
