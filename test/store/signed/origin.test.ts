/** `.loop/origin`: how files of the engine's that were made here are told from those that came along (H2). */
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { claimLoopDir, ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { claimOrigin, FOREIGN, openSigner, originOf } from "../../../src/store/signed/origin.ts";
import { userKey } from "../../../src/store/signed/user-key.ts";
import { creation, idOf, increment, NOW, newTask } from "../fixtures/tasks.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const A = idOf(1);
const stored = (dir: string) => new FolderStore(dir, { now: () => NOW, say: () => {} });
const originIn = (dir: string) => join(dir, "origin");

describe("the origin", () => {
  test.each(["journal.jsonl", "journal.7.jsonl", "tasks.json", "runs", "Tasks.JSON"])(
    "H2 %s without an origin is foreign",
    (name) => {
      const dir = tempDir();
      expect(originOf(dir)).toBe("none");
      writeFileSync(join(dir, name), "");
      expect(originOf(dir)).toBe("foreign");
      expect(() => claimLoopDir(dir)).toThrow(FOREIGN);
      expect(readdirSync(dir)).toEqual([name]);
    },
  );

  test("H2 settings alone are nothing, a folder that is not there neither", () => {
    const dir = tempDir();
    for (const name of ["config.json", "loop.md", "origin"]) writeFileSync(join(dir, name), "x");
    expect(originOf(dir)).toBe("none");
    expect(originOf(join(dir, "nowhere"))).toBe("none");
  });

  test("H2 it holds for this folder only, is for the person alone and tells nobody the key", () => {
    const dir = ensureLoopDir(tempDir());
    const text = readFileSync(originIn(dir), "utf8");
    expect(text).toMatch(/^loopwright 2 [0-9a-f]{32} [0-9a-f]{32}\n$/);
    expect(statSync(originIn(dir)).mode & 0o777).toBe(0o600);
    const other = ensureLoopDir(tempDir());
    expect(readFileSync(originIn(other), "utf8")).not.toBe(text);
    writeFileSync(originIn(other), text);
    writeFileSync(join(other, "tasks.json"), "{}");
    expect(originOf(other)).toBe("foreign");
  });

  test("H2 it holds for this key only", () => {
    const dir = ensureLoopDir(tempDir());
    writeFileSync(join(dir, "tasks.json"), "{}");
    expect(originOf(dir)).toBe("ours");
    vi.stubEnv("XDG_CONFIG_HOME", tempDir());
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(originOf(dir)).toBe("foreign");
    userKey(process.env);
    expect(originOf(dir)).toBe("foreign");
    expect(() => claimOrigin(dir)).toThrow(FOREIGN);
  });

  test("H2 an origin that is a link proves nothing", () => {
    const dir = ensureLoopDir(tempDir());
    const elsewhere = join(tempDir(), "mark");
    renameSync(originIn(dir), elsewhere);
    symlinkSync(elsewhere, originIn(dir));
    expect(openSigner(dir)).toBeNull();
  });

  test("H2 one that lies in a folder without the engine's files is replaced", () => {
    const dir = tempDir();
    writeFileSync(originIn(dir), `loopwright 2 ${"0".repeat(32)} ${"0".repeat(32)}\n`);
    claimOrigin(dir);
    expect(readFileSync(originIn(dir), "utf8")).not.toContain("0".repeat(32));
    expect(openSigner(dir)).not.toBeNull();
  });

  test("H2 the mark of earlier versions, which everybody can compute, proves nothing", () => {
    const dir = tempDir();
    const parts = [
      "loopwright origin 1",
      readFileSync("/etc/machine-id", "latin1").trim(),
      process.getuid?.(),
    ];
    const mark = createHash("sha256")
      .update([...parts, statSync(dir).ino].join("\n"))
      .digest("hex");
    writeFileSync(originIn(dir), `${mark}\n`);
    writeFileSync(join(dir, "journal.jsonl"), "");
    expect(originOf(dir)).toBe("foreign");
  });
});

describe("the store", () => {
  test("H2 nothing is committed, leased or published in a foreign folder", async () => {
    const ours = ensureLoopDir(tempDir());
    await stored(ours).commit(creation(newTask(A)));
    const dir = join(tempDir(), ".loop");
    cpSync(ours, dir, { recursive: true });
    const before = readdirSync(dir);
    const said: string[] = [];
    const store = new FolderStore(dir, { now: () => NOW, say: (text) => void said.push(text) });
    expect(store.load(A)).toMatchObject({ id: A });
    await expect(store.commit(creation(newTask(idOf(2))))).rejects.toThrow(FOREIGN);
    const wanted = { owner: "x", pid: 1, procStart: null, host: "x", acquiredAt: NOW };
    await expect(store.acquire(wanted, 0)).rejects.toThrow(FOREIGN);
    await store.published?.publish();
    expect(said).toEqual([FOREIGN]);
    expect(readdirSync(dir)).toEqual(before);
  });

  test("H2 nor when it takes the place of ours under a process that has been writing", async () => {
    const dir = ensureLoopDir(tempDir());
    const store = stored(dir);
    const task = newTask(A);
    await store.commit(creation(task));
    cpSync(dir, `${dir}.copy`, { recursive: true });
    renameSync(dir, `${dir}.ours`);
    renameSync(`${dir}.copy`, dir);
    await expect(store.commit(increment(task))).rejects.toThrow(FOREIGN);
  });

  test("H4 .gitignore comes with the first of the engine's files, also in a folder that was there", async () => {
    const dir = join(tempDir(), ".loop");
    mkdirSync(dir);
    writeFileSync(join(dir, "config.json"), "{}");
    await stored(dir).commit(creation(newTask(A)));
    expect(readFileSync(join(dir, ".gitignore"), "utf8")).toMatch(/^\/origin$/m);
    rmSync(join(dir, ".gitignore"));
    ensureLoopDir(dirname(dir));
    expect(readdirSync(dir)).toContain(".gitignore");
    writeFileSync(join(dir, ".gitignore"), "mine\n");
    ensureLoopDir(dirname(dir));
    expect(readFileSync(join(dir, ".gitignore"), "utf8")).toBe("mine\n");
  });
});
