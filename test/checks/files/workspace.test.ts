import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFileHashes } from "../../../src/checks/files/file-hash.ts";
import { decodePath, encodePath } from "../../../src/checks/files/raw-path.ts";
import { createWorkspace } from "../../../src/checks/files/workspace.ts";
import { changedFiles } from "../../../src/core/checks/changed-files.ts";

let dir: string;
beforeEach(() => {
  dir = join(realpathSync(mkdtempSync(join(tmpdir(), "loop-workspace-"))), `it's a "repo"`);
  mkdirSync(dir);
});
afterEach(() => rmSync(dirname(dir), { recursive: true, force: true }));

const write = (path: string, text = path): void => {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
};
const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: dir, encoding: "utf8", stdio: "pipe" });
const paths = async (except?: readonly string[]): Promise<string[]> => [
  ...(await createWorkspace(dir).snapshot(except)).files.keys(),
];

describe("B7 the files that count in a git work tree", () => {
  beforeEach(() => {
    git("init", "-q");
    git("config", "user.email", "a@b.c");
    git("config", "user.name", "a");
  });

  test("are those that git tracks or would track, and nothing of .loop", async () => {
    for (const path of [
      "a.ts",
      "deep/b c.ts",
      ".gitignore",
      "dist/x.js",
      ".loop/config.json",
      "kept.log",
      "new.log",
    ]) {
      write(path, path === ".gitignore" ? "*.log\ndist\n" : path);
    }
    git("add", "-f", "a.ts", "kept.log");
    expect(await paths()).toEqual([".gitignore", "a.ts", "deep/b c.ts", "kept.log"]);
    expect((await createWorkspace(dir).snapshot()).isGit).toBe(true);
    expect(await paths(["*.ts"])).toEqual([".gitignore", "kept.log"]);
  });

  test("are only those of the project, when it is a folder of the repository", async () => {
    write("other/a.ts");
    write("part/b.ts");
    git("add", ".");
    const snapshot = await createWorkspace(join(dir, "part")).snapshot();
    expect([...snapshot.files.keys()]).toEqual(["b.ts"]);
    expect(snapshot.isGit).toBe(true);
  });

  test("are all of a project that the repository around it ignores", async () => {
    write(".gitignore", "*\n");
    write("part/b.ts");
    const snapshot = await createWorkspace(join(dir, "part")).snapshot();
    expect([...snapshot.files.keys()]).toEqual(["b.ts"]);
    expect(snapshot.isGit).toBe(false);
  });

  test("keep names that are strange or no UTF-8", async () => {
    write("line\nbreak");
    const odd = Buffer.concat([Buffer.from(`${dir}/odd-`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(odd, "1");
    const workspace = createWorkspace(dir);
    const before = await workspace.snapshot();
    expect(before.files.size).toBe(2);
    writeFileSync(odd, "2");
    expect(changedFiles(before, await workspace.snapshot())).toEqual(["odd-\udcff\udcfe"]);
  });

  test("hold a repository inside of the project as its commit", async () => {
    write("inner/a.ts");
    const inner = (...args: string[]) =>
      git("-C", "inner", "-c", "user.email=a@b.c", "-c", "user.name=a", ...args);
    inner("init", "-q");
    inner("add", ".");
    inner("commit", "-qm", "1");
    const workspace = createWorkspace(dir);
    const before = await workspace.snapshot();
    expect([...before.files.keys()]).toEqual(["inner"]);
    inner("commit", "-qm", "2", "--allow-empty");
    expect(changedFiles(before, await workspace.snapshot())).toEqual(["inner"]);
  });

  test("are found without running a program that the repository's configuration names", async () => {
    write("a.ts");
    git("add", ".");
    const trap = join(dir, ".git", "trap");
    writeFileSync(trap, `#!/bin/sh\ntouch '${join(dirname(dir), "sprung")}'\n`, { mode: 0o755 });
    git("config", "core.fsmonitor", trap);
    git("config", "core.pager", trap);
    git("config", "core.hooksPath", dirname(trap));
    for (const hook of ["post-index-change", "fsmonitor-watchman"]) linkSync(trap, join(dirname(trap), hook));
    expect(await paths()).toEqual(["a.ts"]);
    expect(existsSync(join(dirname(dir), "sprung"))).toBe(false);
    // the trap works
    execFileSync("git", ["status"], { cwd: dir, stdio: "ignore" });
    expect(existsSync(join(dirname(dir), "sprung"))).toBe(true);
  });

  test("are found by a git that is not the project's own", async () => {
    write("node_modules/.bin/git", "#!/bin/sh\nprintf 'planted\\0'\n");
    chmodSync(join(dir, "node_modules/.bin/git"), 0o755);
    write(".gitignore", "node_modules\n");
    const path = process.env.PATH;
    process.env.PATH = `${join(dir, "node_modules/.bin")}:${path}`;
    try {
      expect(await paths()).toEqual([".gitignore"]);
    } finally {
      process.env.PATH = path;
    }
  });

  test("are walked when git hangs on a pipe or its folder is broken", async () => {
    write("a.ts");
    execFileSync("mkfifo", [join(dir, ".gitignore")]);
    const hung = await createWorkspace(dir, 200).snapshot();
    expect([...hung.files.keys()]).toEqual([".gitignore", "a.ts"]);
    expect(hung.isGit).toBe(false);
    rmSync(join(dir, ".gitignore"));
    writeFileSync(join(dir, ".git", "HEAD"), "nonsense");
    expect(await paths()).toEqual(["a.ts"]);
  });

  test("a file in a merge that is not finished counts once", async () => {
    write("a.ts", "1\n");
    git("add", ".");
    git("commit", "-qm", "1");
    git("checkout", "-qb", "other");
    write("a.ts", "2\n");
    git("commit", "-qam", "2");
    git("checkout", "-q", "-");
    write("a.ts", "3\n");
    git("commit", "-qam", "3");
    expect(() => git("merge", "other")).toThrow();
    expect(git("ls-files", "-c").split("\n").length).toBeGreaterThan(2);
    const merging = await createWorkspace(dir).snapshot();
    git("add", "a.ts");
    expect((await createWorkspace(dir).snapshot()).hash).toBe(merging.hash);
    expect([...merging.files.keys()]).toEqual(["a.ts"]);
  });
});

describe("B7 the files that count without git", () => {
  test("are all but those in folders that tools fill", async () => {
    const counted = ["a.ts", "build/run.sh", "deep/target/b.ts", "rust/Cargo.toml", "vendor/c.ts"];
    const left = [
      "node_modules/x/a.js",
      "deep/node_modules/a.js",
      "rust/target/a",
      ".venv/a",
      "__pycache__/a",
    ];
    for (const path of [...counted, ...left, ".loop/prd.json", "coverage/a", ".hg/a"]) write(path);
    expect(await paths()).toEqual(counted);
    expect((await createWorkspace(dir).snapshot()).isGit).toBe(false);
  });

  test("a project that is gone has none", async () => {
    rmSync(dir, { recursive: true });
    expect(await paths()).toEqual([]);
  });
});

describe("B7 a snapshot", () => {
  test("has the same hash for the same files, whoever takes it", async () => {
    write("a.ts");
    write("b.ts");
    const first = await createWorkspace(dir).snapshot();
    expect((await createWorkspace(dir).snapshot()).hash).toBe(first.hash);
    renameSync(join(dir, "b.ts"), join(dir, "c.ts"));
    expect((await createWorkspace(dir).snapshot()).hash).not.toBe(first.hash);
  });

  test("tells what was added, changed and deleted, in order", async () => {
    for (const path of ["same", "text", "mode", "gone", "link"]) write(path);
    const workspace = createWorkspace(dir);
    const before = await workspace.snapshot();
    expect(changedFiles(before, await workspace.snapshot())).toEqual([]);
    write("text", "new");
    write("added");
    rmSync(join(dir, "gone"));
    chmodSync(join(dir, "mode"), 0o755);
    rmSync(join(dir, "link"));
    symlinkSync("same", join(dir, "link"));
    utimesSync(join(dir, "same"), 1, 1);
    expect(changedFiles(before, await workspace.snapshot())).toEqual([
      "added",
      "gone",
      "link",
      "mode",
      "text",
    ]);
  });

  test("sees a change of the same length that comes within one tick of the file system's clock", () => {
    const hashes = createFileHashes();
    const path = join(dir, "a");
    const hashAfter = (text: string) => {
      write("a", text);
      utimesSync(path, 1, 1);
      return hashes.hash(path);
    };
    for (let n = 0; n < 500; n++) expect(hashAfter("1")).not.toBe(hashAfter("2"));
  });

  test("neither hangs on pipes, sockets and links in a circle nor follows one", async () => {
    execFileSync("mkfifo", [join(dir, "pipe")]);
    symlinkSync("circle", join(dir, "circle"));
    symlinkSync("/etc", join(dir, "out"));
    symlinkSync("/dev/zero", join(dir, "zero"));
    write("closed", "x");
    chmodSync(join(dir, "closed"), 0);
    // a path longer than a socket may have
    const cwd = process.cwd();
    process.chdir(dir);
    const server = createServer();
    await new Promise<void>((done) => server.listen("socket", done));
    process.chdir(cwd);
    try {
      const workspace = createWorkspace(dir);
      const before = await workspace.snapshot();
      expect([...before.files.keys()].sort()).toEqual(["circle", "closed", "out", "pipe", "socket", "zero"]);
      rmSync(join(dir, "out"));
      symlinkSync("/usr", join(dir, "out"));
      expect(changedFiles(before, await workspace.snapshot())).toEqual(["out"]);
    } finally {
      await new Promise((done) => server.close(done));
    }
  });

  test("keeps a hash only when the file could not have changed again in the same tick of the clock", async () => {
    const path = join(dir, "large");
    // only a large file tells whether it is read: then the answer is a promise
    writeFileSync(path, Buffer.alloc(2 * 1024 * 1024, 1));
    let now = statSync(path).ctimeMs + 5;
    const hashes = createFileHashes(() => now);
    const hash = await hashes.hash(path);
    expect(hashes.hash(path)).toBeInstanceOf(Promise);
    now += 1_000;
    expect(await hashes.hash(path)).toBe(hash);
    expect(hashes.hash(path)).toBe(hash);
  });

  test("hashes a large file whole, and only once", async () => {
    const large = Buffer.alloc(5 * 1024 * 1024, 1);
    writeFileSync(join(dir, "large"), large);
    const hashes = createFileHashes(() => Date.now() + 60_000);
    const first = hashes.hash(join(dir, "large"));
    expect(first).toBeInstanceOf(Promise);
    expect(hashes.hash(join(dir, "large"))).toBeInstanceOf(Promise);
    const hash = await first;
    expect(hashes.hash(join(dir, "large"))).toBe(hash);
    large[large.length - 1] = 2;
    writeFileSync(join(dir, "large"), large);
    expect(await hashes.hash(join(dir, "large"))).not.toBe(hash);
  });
});

test.each([
  [Buffer.from("plain/ü🦊�")],
  [Buffer.from([0x61, 0xff, 0x62])],
  [Buffer.from([0xe2, 0x82])],
  [Buffer.from([0xed, 0xb2, 0x80, 0xc3, 0xbc])],
  [Buffer.from([0xf0, 0x9f, 0xa6, 0x8a, 0x80])],
])("B7 the name %j comes back as the same bytes", (bytes) => {
  expect(Buffer.from(encodePath(decodePath(bytes)))).toEqual(bytes);
});
