/** H2: what a person trusted, by content, outside of every repository. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { createTrustStore } from "../../../src/store/folder/trust.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const NOW = Date.UTC(2026, 0, 2);

/** A home, and a file of a repository in a folder beside it. */
function setUp() {
  const base = tempDir();
  const [home, project] = [join(base, "home"), join(base, "project")];
  for (const dir of [home, project]) mkdirSync(dir);
  const path = join(project, "SHAPE.md");
  writeFileSync(path, "run me");
  const dir = join(home, ".config", "loopwright", "trust");
  return {
    home,
    project,
    path,
    dir,
    file: { path, content: "run me" },
    store: createTrustStore({ HOME: home }),
  };
}

const only = (dir: string) => join(dir, readdirSync(dir)[0] ?? "");

test("H2 nothing is trusted until somebody says so, and then that content in that place only", () => {
  const { store, file, path, project, home } = setUp();
  expect(store.isTrusted(file)).toBe(false);
  expect(existsSync(join(home, ".config"))).toBe(false);
  store.trust(file, NOW);
  expect(store.isTrusted(file)).toBe(true);
  expect(createTrustStore({ HOME: home }).isTrusted(file)).toBe(true);
  expect(store.isTrusted({ path, content: "run me " })).toBe(false);
  const copy = join(project, "copy");
  writeFileSync(copy, "run me");
  expect(store.isTrusted({ path: copy, content: "run me" })).toBe(false);
  const moved = `${project} moved`;
  renameSync(project, moved);
  expect(store.isTrusted({ path: join(moved, "SHAPE.md"), content: "run me" })).toBe(false);
  expect(store.isTrusted(file)).toBe(false);
});

test("H2 a content that was trusted before stays trusted beside the new one, and revoke takes back both", () => {
  const { store, file, path } = setUp();
  store.trust(file, NOW);
  store.trust({ path, content: "another branch" }, NOW + 1);
  expect(store.isTrusted(file)).toBe(true);
  expect(store.list()).toMatchObject([
    { path, at: NOW },
    { path, at: NOW + 1 },
  ]);
  expect(store.revoke(path)).toBe(true);
  expect([store.isTrusted(file), store.list()]).toEqual([false, []]);
  expect(store.revoke(path)).toBe(false);
});

test("H2 what is gone from the disk can be taken back, and not be trusted", () => {
  const { store, file, path } = setUp();
  store.trust(file, NOW);
  rmSync(path);
  expect(store.isTrusted(file)).toBe(false);
  expect(() => store.trust(file, NOW)).toThrow(/no longer exists/);
  expect(store.revoke(path)).toBe(true);
});

test("H2 a link counts as the file that it leads to", () => {
  const { store, file, project } = setUp();
  const link = join(project, "link");
  symlinkSync("SHAPE.md", link);
  store.trust({ path: link, content: "run me" }, NOW);
  expect(store.isTrusted(file)).toBe(true);
  const other = join(project, "other");
  writeFileSync(other, "run me");
  rmSync(link);
  symlinkSync("other", link);
  expect(store.isTrusted({ path: link, content: "run me" })).toBe(false);
});

test("H4 kept for the person alone, below XDG_CONFIG_HOME when that is a path", () => {
  const { store, file, dir, home } = setUp();
  store.trust(file, NOW);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(statSync(only(dir)).mode & 0o777).toBe(0o600);
  const config = join(home, "config");
  const elsewhere = createTrustStore({ HOME: home, XDG_CONFIG_HOME: config });
  expect(elsewhere.isTrusted(file)).toBe(false);
  elsewhere.trust(file, NOW);
  expect(readdirSync(join(config, "loopwright", "trust"))).toHaveLength(1);
  expect(createTrustStore({ HOME: home, XDG_CONFIG_HOME: "config" }).isTrusted(file)).toBe(true);
});

test.each([
  ["no JSON", "{"],
  ["another shape", "{}"],
  ["no object", "null"],
])("A13 a damaged entry (%s) is not trusted, and moved aside", (_, text) => {
  const { store, file, dir } = setUp();
  store.trust(file, NOW);
  writeFileSync(only(dir), text);
  expect(store.isTrusted(file)).toBe(false);
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/\.json\.corrupt-/)]);
  expect(readFileSync(only(dir), "utf8")).toBe(text);
  store.trust(file, NOW);
  expect(store.isTrusted(file)).toBe(true);
});

test("H2 an entry under another name, for another path, or of a later version is no trust", () => {
  const { store, file, dir, path } = setUp();
  store.trust(file, NOW);
  const entry = JSON.parse(readFileSync(only(dir), "utf8"));
  for (const forged of [{ path: "/elsewhere" }, { sha256: "0".repeat(64) }, { version: 2 }]) {
    writeFileSync(only(dir), JSON.stringify({ ...entry, ...forged }));
    expect(store.isTrusted(file), JSON.stringify(forged)).toBe(false);
  }
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/\.json$/)]);
  writeFileSync(only(dir), JSON.stringify(entry));
  renameSync(only(dir), join(dir, `${"0".repeat(64)}-${"0".repeat(64)}.json`));
  expect(store.isTrusted({ path, content: "run me" })).toBe(false);
});

test("H2 a folder that others can write to, or that is a link, proves nothing", () => {
  const { store, file, dir, home } = setUp();
  store.trust(file, NOW);
  chmodSync(dir, 0o770);
  expect([store.isTrusted(file), store.list()]).toEqual([false, []]);
  expect(() => store.trust(file, NOW)).toThrow(/is writable for other users\.$/);
  chmodSync(dir, 0o700);
  renameSync(dir, join(home, "real"));
  symlinkSync(join(home, "real"), dir);
  expect(store.isTrusted(file)).toBe(false);
});

test.each([
  ["without HOME", {}, /neither HOME nor XDG_CONFIG_HOME is set/],
  ["with a HOME that is no path", { HOME: "" }, /neither HOME nor XDG_CONFIG_HOME is set/],
  ["with a HOME that cannot be written to", { HOME: "/dev/null" }, /^Cannot create \/dev\/null\/\.config/],
])("H2 %s: one sentence, and nothing is trusted", (_, env, sentence) => {
  const { file, path } = setUp();
  const store = createTrustStore(env);
  expect([store.isTrusted(file), store.list(), store.revoke(path)]).toEqual([false, [], false]);
  expect(() => store.trust(file, NOW)).toThrow(sentence);
});

test("H1 several processes at once lose nothing", async () => {
  const { home, project, dir } = setUp();
  const program = join(home, "trust.mjs");
  const source = new URL("../../../src/store/folder/trust.ts", import.meta.url).pathname;
  await build({
    entryPoints: [source],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  for (let n = 0; n < 8; n++) writeFileSync(join(project, `file ${n}`), `${n}`);
  const one = `import { createTrustStore } from ${JSON.stringify(program)};
    const store = createTrustStore({ HOME: ${JSON.stringify(home)} });
    for (let n = 0; n < 8; n++) store.trust({ path: ${JSON.stringify(project)} + "/file " + n, content: String(n) }, 1);`;
  writeFileSync(join(home, "one.mjs"), one);
  const node = `'${process.execPath}' '${join(home, "one.mjs")}'`;
  expect(spawnSync("/bin/sh", ["-c", `${node} & ${node} & ${node} & wait`]).stderr.toString()).toBe("");
  expect(readdirSync(dir)).toHaveLength(8);
  expect(createTrustStore({ HOME: home }).list()).toHaveLength(8);
});

test("H2 any two contents: only the one that was trusted", () => {
  const { store, path } = setUp();
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (content, other) => {
      store.trust({ path, content }, NOW);
      expect(store.isTrusted({ path, content })).toBe(true);
      expect(store.isTrusted({ path, content: `${content}${other}` })).toBe(other === "");
      store.revoke(path);
    }),
    { numRuns: 50 },
  );
});
