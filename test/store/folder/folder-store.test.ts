import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { LoopId, Task } from "../../../src/core/loop.ts";
import { LoopError } from "../../../src/errors.ts";
import { readTasksFile } from "../../../src/store/files/tasks-file.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { checkLoopDir, ensureLoopDir, findProject } from "../../../src/store/folder/loop-dir.ts";
import type { FolderOptions } from "../../../src/store/folder/opened-folder.ts";
import { FOREIGN, openSigner } from "../../../src/store/signed/origin.ts";
import { asTask } from "../../support/only-tasks.ts";
import { until } from "../../support/until.ts";
import { lineIn } from "../fixtures/lines.ts";
import { type Around, killStores, removeBundle, spawnStore } from "../fixtures/spawn-store.ts";
import { creation, ending, idOf, increment, NOW, newTask, wantedLease } from "../fixtures/tasks.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

const A = idOf(1);
const B = idOf(2);
const mounted: string[] = [];

afterEach(async () => {
  await killStores();
  for (const dir of mounted.splice(0)) spawnSync("umount", [dir]);
  removeTempDirs();
});
afterAll(removeBundle);

function works(program: string, ...args: string[]): boolean {
  return process.platform === "linux" && spawnSync(program, args).status === 0;
}

const NOBODY = 65_534;

/** Root may do everything: what a person may not do is tried as somebody else. */
const asNobody: Around = {
  command: process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [],
};
const canBeNobody = process.getuid?.() !== 0 || works("setpriv", "--reuid=65534", "--clear-groups", "true");

interface Opened {
  readonly store: FolderStore;
  readonly said: string[];
}

function opened(dir: string, options: Partial<FolderOptions> = {}): Opened {
  const said: string[] = [];
  const store = new FolderStore(dir, {
    now: () => NOW,
    say: (message) => void said.push(message),
    ...options,
  });
  return { store, said };
}

function loopDir(): string {
  return ensureLoopDir(tempDir());
}

function loaded(store: FolderStore, id: LoopId): Task {
  const task = asTask(store.load(id));
  if (task === undefined) throw new Error(`no ${id}`);
  return task;
}

function corrupt(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.startsWith("tasks.json.corrupt-"));
}

function published(dir: string): string[] {
  const content = JSON.parse(readFileSync(join(dir, "tasks.json"), "utf8")) as { tasks: { id: string }[] };
  return content.tasks.map(({ id }) => id).sort();
}

describe("commit", () => {
  test("A9 A12 answers what became of it", async () => {
    const dir = loopDir();
    const { store } = opened(dir);
    expect(await store.commit(creation(newTask(A)))).toEqual({ kind: "committed" });
    expect(await store.commit(creation(newTask(A)))).toEqual({ kind: "conflict" });
    expect(await store.commit(increment(loaded(store, A), "x", 1))).toEqual({ kind: "fenced" });
    expect(await store.commit(creation(newTask(B), 1))).toEqual({ kind: "full", live: 1 });
    expect(await store.commit(ending(loaded(store, A)))).toEqual({ kind: "committed" });
    expect([...opened(dir).store.loops()]).toEqual([]);
  });

  test("D6 a lease is given once per token, and released only by its holder", async () => {
    const dir = loopDir();
    const { store } = opened(dir);
    const lease = await store.acquire(wantedLease(), 0);
    expect(lease).toMatchObject({ token: 1 });
    expect(await opened(dir).store.acquire(wantedLease(), 0)).toBeNull();
    await store.release(7, NOW);
    expect(opened(dir).store.lease()).toEqual(lease);
    expect(existsSync(join(dir, "loop.lock"))).toBe(true);
    await store.release(1, NOW);
    expect(opened(dir).store.lease()).toBeNull();
    expect(opened(dir).store.lastToken()).toBe(1);
    expect(existsSync(join(dir, "loop.lock"))).toBe(false);
  });

  test("D6 a lock file that cannot be written does not take the lease away", async () => {
    const dir = loopDir();
    mkdirSync(join(dir, "loop.lock"));
    const { store, said } = opened(dir);
    const lease = await store.acquire(wantedLease(), 0);
    expect(lease).toMatchObject({ token: 1 });
    expect(said).toEqual([expect.stringMatching(/^Cannot write .*loop\.lock: /)]);
    await expect(store.release(1, NOW)).resolves.toBe(true);
  });

  test("D6 a holder that lost the lease does not write over the new one's sign of life", async () => {
    const dir = loopDir();
    const { store } = opened(dir);
    const old = await store.acquire(wantedLease({ owner: "old" }), 0);
    await opened(dir).store.acquire(wantedLease({ owner: "new" }), 1);
    await store.refresh();
    if (old === null) throw new Error("no lease");
    await store.heartbeat(old, NOW + 1);
    expect(JSON.parse(readFileSync(join(dir, "loop.lock"), "utf8"))).toMatchObject({
      owner: "new",
      token: 2,
    });
  });

  test("A8 of many processes that create at once no more than the limit get through", async () => {
    const dir = loopDir();
    const processes = await Promise.all(
      Array.from({ length: 4 }, () => spawnStore({ dir, segmentBytes: 3_000 })),
    );
    const ids = Array.from({ length: 40 }, (_, n) => idOf(n + 1));
    const answers = await Promise.all(
      ids.map((id, n) => processes[n % 4]?.ask({ op: "create", id, maxLive: 10 })),
    );
    expect(answers.filter((answer) => answer?.kind === "committed")).toHaveLength(10);
    expect(answers.filter((answer) => answer?.kind === "full" && answer.live === 10)).toHaveLength(30);
    expect([...opened(dir).store.loops()]).toHaveLength(10);
  });
});

describe("publish", () => {
  test("A13 H4 writes tasks.json whole, for the person alone, and leaves nothing beside it", async () => {
    const dir = loopDir();
    const { store, said } = opened(dir);
    await store.commit(creation(newTask(A)));
    await store.commit(creation(newTask(B, { session: "one conversation" })));
    await store.acquire(wantedLease(), 0);
    await store.published?.publish();
    expect(published(dir)).toEqual([A]);
    expect(readdirSync(dir).sort()).toEqual([
      ".gitignore",
      "journal.jsonl",
      "loop.lock",
      "origin",
      "progress.json",
      "tasks.json",
    ]);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777, name).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(said).toEqual([]);
  });

  test("A13 a reader never sees half a file", async () => {
    const dir = loopDir();
    const { store } = opened(dir);
    for (let n = 1; n < 60; n++) await store.commit(creation(newTask(idOf(n))));
    await store.published?.publish();
    const publisher = await spawnStore({ dir });
    let isOver = false;
    void publisher.ask({ op: "publish", times: 150 }).then(() => {
      isOver = true;
    });
    const kinds = new Set<string>();
    const inodes = new Set<number>();
    await until(() => {
      for (let n = 0; n < 100; n++) kinds.add(readTasksFile(dir, openSigner(dir)).kind);
      inodes.add(statSync(join(dir, "tasks.json")).ino);
      return isOver;
    }, "the publisher is done");
    expect([...kinds]).toEqual(["published"]);
    expect(inodes.size).toBeGreaterThan(1);
  });

  test("A12 when several publish at once the newest state stands", async () => {
    const dir = loopDir();
    const processes = await Promise.all(Array.from({ length: 3 }, () => spawnStore({ dir })));
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        processes.map((one, n) =>
          one.ask({ op: "churn", ids: Array.from({ length: 4 }, (_, m) => idOf(round * 100 + n * 10 + m)) }),
        ),
      );
      expect(published(dir)).toHaveLength((round + 1) * 12);
    }
  });

  test.each([
    ["half a file", '{"version":1,"tasks":['],
    ["nothing", ""],
    ["a list", "[]"],
  ])("A13 %s is moved aside, said so, and written again", async (_, content) => {
    const dir = loopDir();
    const { store, said } = opened(dir);
    await store.commit(creation(newTask(A)));
    for (const count of [1, 2]) {
      writeFileSync(join(dir, "tasks.json"), content);
      await store.published?.publish();
      expect(corrupt(dir)).toHaveLength(count);
      expect(said).toHaveLength(count);
      expect(published(dir)).toEqual([A]);
    }
    expect(corrupt(dir)[0]).toBe("tasks.json.corrupt-2026-01-01T12-00-00-000Z");
    for (const name of corrupt(dir)) expect(readFileSync(join(dir, name), "utf8")).toBe(content);
    expect(said[0]).toMatch(/^tasks\.json did not parse: moved to .*corrupt-2026-\S+ and written again/);
  });

  test("H4 a link or a folder of that name is moved aside, and what it leads to is not touched", async () => {
    const dir = loopDir();
    const target = join(tempDir(), "target.json");
    writeFileSync(target, "{}");
    const { store, said } = opened(dir);
    await store.commit(creation(newTask(A)));
    symlinkSync(target, join(dir, "tasks.json"));
    await store.published?.publish();
    expect(published(dir)).toEqual([A]);
    rmSync(join(dir, "tasks.json"));
    mkdirSync(join(dir, "tasks.json"));
    await store.published?.publish();
    expect(published(dir)).toEqual([A]);
    expect(readFileSync(target, "utf8")).toBe("{}");
    expect(corrupt(dir).map((name) => lstatSync(join(dir, name)).isSymbolicLink())).toEqual([true, false]);
    expect(said).toHaveLength(2);
  });

  test("A13 several processes meet one damaged file: it is kept once, and never overwritten", async () => {
    const dir = loopDir();
    await opened(dir).store.commit(creation(newTask(A)));
    const processes = await Promise.all(Array.from({ length: 4 }, () => spawnStore({ dir })));
    await Promise.all(processes.map((one) => one.ask({ op: "counters" })));
    for (let round = 1; round <= 15; round++) {
      writeFileSync(join(dir, "tasks.json"), `damaged ${round}`);
      await Promise.all(processes.map((one) => one.ask({ op: "publish", times: 1 })));
      const kept = corrupt(dir).map((name) => readFileSync(join(dir, name), "utf8"));
      expect(kept.sort()).toEqual(Array.from({ length: round }, (_, n) => `damaged ${n + 1}`).sort());
      expect(published(dir)).toEqual([A]);
    }
  });

  test("A12 what a person edited stays until somebody has read it", async () => {
    const dir = loopDir();
    const { store } = opened(dir);
    await store.commit(creation(newTask(A)));
    await store.published?.publish();
    const edited = readFileSync(join(dir, "tasks.json"), "utf8").replace(
      "check the deploy",
      "check it twice",
    );
    writeFileSync(join(dir, "tasks.json"), `\uFEFF${edited}`);
    expect(readTasksFile(dir, openSigner(dir)).kind).toBe("edited");
    await store.published?.publish();
    expect(readTasksFile(dir, openSigner(dir)).kind).toBe("edited");
    await store.published.publish(`\uFEFF${edited}`);
    expect(readTasksFile(dir, openSigner(dir)).kind).toBe("published");
  });

  test("H1 a journal that was deleted does not take the published tasks with it", async () => {
    const dir = loopDir();
    const { store } = opened(dir);
    await store.commit(creation(newTask(A)));
    await store.published?.publish();
    rmSync(join(dir, "journal.jsonl"));
    await store.published?.publish();
    expect(published(dir)).toEqual([A]);
  });

  test("a folder that is gone is said, not thrown", async () => {
    const dir = loopDir();
    const { store, said } = opened(dir);
    rmSync(dir, { recursive: true });
    await store.published?.publish();
    expect(said).toEqual([`Cannot write ${dir}/tasks.json: its folder does not exist.`]);
    await expect(store.commit(creation(newTask(A)))).rejects.toThrow(
      `Cannot write ${dir}/journal.jsonl: its folder does not exist.`,
    );
  });
});

describe("the folder", () => {
  test("H4 .loop is made for the person alone, with a .gitignore", () => {
    const project = tempDir();
    expect(checkLoopDir(project)).toBe(false);
    const dir = ensureLoopDir(project);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(dir, ".gitignore"), "utf8")).toContain("/journal*.jsonl\n");
    expect(ensureLoopDir(project)).toBe(dir);
    expect(checkLoopDir(project)).toBe(true);
  });

  test("H4 a .loop that leads out of the project is refused", () => {
    const project = tempDir();
    symlinkSync(tempDir(), join(project, ".loop"));
    expect(() => ensureLoopDir(project)).toThrow(LoopError);
    expect(() => checkLoopDir(project)).toThrow(/is a link that leads out of the project/);
  });

  test("H4 a .loop that leads nowhere is refused; one that stays inside is not", () => {
    const project = tempDir();
    symlinkSync(join(project, "nowhere"), join(project, ".loop"));
    expect(() => checkLoopDir(project)).toThrow(LoopError);
    mkdirSync(join(project, "..inside"));
    rmSync(join(project, ".loop"));
    symlinkSync("..inside", join(project, ".loop"));
    expect(checkLoopDir(project)).toBe(true);
  });

  test.each([
    ["a file", (project: string) => writeFileSync(join(project, ".loop"), "")],
    [
      "a link to a file",
      (project: string) => {
        writeFileSync(join(project, "file"), "");
        symlinkSync("file", join(project, ".loop"));
      },
    ],
  ])("H5 a .loop that is %s is refused with a sentence", (_, make) => {
    const project = tempDir();
    make(project);
    expect(() => ensureLoopDir(project)).toThrow(/is a file; loopwright needs a folder of that name/);
    expect(() => opened(join(project, ".loop"))).toThrow(LoopError);
  });

  test("a project is the nearest .loop inside the git work tree, else its root, else the folder", () => {
    const root = tempDir();
    const deep = join(root, "a", "b");
    mkdirSync(deep, { recursive: true });
    expect(findProject(deep)).toBe(deep);
    mkdirSync(join(root, ".git"));
    expect(findProject(deep)).toBe(root);
    mkdirSync(join(root, "a", ".loop"));
    expect(findProject(deep)).toBe(join(root, "a"));
  });

  test("H4 a journal that is a link is an error that says so", () => {
    const dir = loopDir();
    symlinkSync("/etc/hostname", join(dir, "journal.jsonl"));
    expect(() => opened(dir)).toThrow(
      /^Cannot read .*: it is a symbolic link, and loopwright does not follow links here\.$/,
    );
  });

  test.skipIf(!canBeNobody)("H5 a journal that one may not read is an error that says so", async () => {
    const dir = loopDir();
    await opened(dir).store.commit(creation(newTask(A)));
    chmodSync(join(dir, "journal.jsonl"), 0);
    chmodSync(join(dir, ".."), 0o755);
    chownSync(dir, NOBODY, NOBODY);
    const { error } = await (await spawnStore({ dir }, asNobody)).ask({ op: "counters" });
    expect(error).toMatchObject({
      name: "LoopError",
      message: expect.stringMatching(/permission denied\.$/),
    });
  });

  test.skipIf(!canBeNobody)(
    "H5 who may only read reads, also at a seal, and is told that he cannot write",
    async () => {
      const dir = loopDir();
      const { store } = opened(dir);
      await store.commit(creation(newTask(A)));
      writeFileSync(join(dir, "journal.jsonl"), lineIn(dir, { v: 1, w: "x", at: NOW, type: "seal" }), {
        flag: "a",
      });
      chmodSync(join(dir, ".."), 0o755);
      const giveTo = (uid: number) => {
        for (const name of [".", ...readdirSync(dir)]) chownSync(join(dir, name), uid, uid);
      };
      // he could add to this segment, but what he writes is not signed
      giveTo(NOBODY);
      chmodSync(dir, 0o555);
      const reader = await spawnStore({ dir }, asNobody);
      expect(await reader.ask({ op: "counters" })).toMatchObject({ counters: { [A]: 0 } });
      expect(await reader.ask({ op: "increment", id: A })).toMatchObject({
        error: { name: "LoopError", message: FOREIGN },
      });
      chmodSync(dir, 0o700);
      giveTo(0);
      expect(await store.commit(increment(loaded(store, A)))).toEqual({ kind: "committed" });
    },
  );
});

describe("H1 a full disk", () => {
  const canMount = works(
    "sh",
    "-c",
    'd=$(mktemp -d) && mount -t tmpfs none "$d" && umount "$d" && rmdir "$d"',
  );

  test.skipIf(!canMount).each([
    ["in the middle of lines", 1_000_000],
    ["in the middle of rotations", 3_000],
  ])(
    "%s: a sentence, reads go on, nothing is lost, and it goes on when there is space",
    async (_, segmentBytes) => {
      const dir = join(tempDir(), "disk");
      mkdirSync(dir);
      expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=96k", "none", dir]).status).toBe(0);
      mounted.push(dir);
      const filler = join(dir, "filler");
      writeFileSync(filler, Buffer.alloc(24_000));
      const { store, said } = opened(dir, { segmentBytes });
      await store.commit(creation(newTask(A)));
      let acknowledged = 0;
      let refused: unknown = null;
      for (let n = 0; n < 300 && refused === null; n++) {
        try {
          expect(await store.commit(increment(loaded(store, A)))).toEqual({ kind: "committed" });
          acknowledged += 1;
        } catch (error) {
          refused = error;
        }
      }
      expect(refused).toBeInstanceOf(LoopError);
      expect(refused).toMatchObject({
        message: `Cannot write ${dir}/journal.jsonl: there is no space left.`,
        hint: "Nothing was changed.",
      });
      await expect(store.commit(increment(loaded(store, A)))).rejects.toThrow(/no space left/);
      await store.published?.publish();
      expect(said.every((message) => /no space left/.test(message))).toBe(true);
      expect(loaded(store, A).streak).toBe(acknowledged);
      expect(loaded(opened(dir).store, A).streak).toBe(acknowledged);
      rmSync(filler);
      for (let n = 0; n < 3; n++) {
        expect(await store.commit(increment(loaded(store, A)))).toEqual({ kind: "committed" });
      }
      expect(loaded(opened(dir).store, A).streak).toBe(acknowledged + 3);
      await store.published?.publish();
      expect(published(dir)).toEqual([A]);
    },
  );

  test.skipIf(!works("prlimit", "--version"))(
    "a line that was cut by a limit never counts, and what comes next does",
    async () => {
      for (let limit = 4_000; limit < 4_030; limit += 10) {
        const dir = loopDir();
        const limited = await spawnStore({ dir }, { command: ["prlimit", `--fsize=${limit}:unlimited`] });
        await limited.ask({ op: "create", id: A });
        let acknowledged = 0;
        let answer = await limited.ask({ op: "increment", id: A });
        for (; answer.kind === "committed"; acknowledged++)
          answer = await limited.ask({ op: "increment", id: A });
        expect(answer.error).toMatchObject({
          name: "LoopError",
          message: expect.stringMatching(/no space left\.$/),
        });
        expect(statSync(join(dir, "journal.jsonl")).size).toBe(limit);
        spawnSync("prlimit", ["--pid", String(limited.pid), "--fsize=unlimited"]);
        expect(await limited.ask({ op: "increment", id: A })).toEqual({ kind: "committed" });
        expect(loaded(opened(dir).store, A).streak).toBe(acknowledged + 1);
        await limited.kill();
      }
    },
  );
});

test.skipIf(!works("prlimit", "--version"))(
  "H1 a commit stands although there is no space to seal the segment",
  async () => {
    const dir = loopDir();
    const path = join(dir, "journal.jsonl");
    const limited = await spawnStore({ dir, segmentBytes: 3_000 });
    await limited.ask({ op: "create", id: A });
    const line = statSync(path).size;
    while (statSync(path).size + line < 3_000) await limited.ask({ op: "increment", id: A });
    const { size } = statSync(path);
    await limited.ask({ op: "counters" });
    spawnSync("prlimit", ["--pid", String(limited.pid), `--fsize=${size + line + 40}:unlimited`]);
    expect(await limited.ask({ op: "increment", id: A })).toEqual({ kind: "committed" });
    expect(statSync(path).size).toBe(size + line + 40);
    expect(await limited.ask({ op: "increment", id: A })).toHaveProperty("error");
    spawnSync("prlimit", ["--pid", String(limited.pid), "--fsize=unlimited"]);
    expect(await limited.ask({ op: "increment", id: A })).toEqual({ kind: "committed" });
    expect(await limited.ask({ op: "counters" })).toMatchObject({ generation: 2 });
  },
);

describe("A12 watch", () => {
  const WITHIN_MS = 500;
  const withoutInotify: Around = {
    command: [
      "unshare",
      "-Ur",
      "sh",
      "-c",
      'echo 0 > /proc/sys/user/max_inotify_instances && exec "$0" "$@"',
    ],
  };
  const canDoWithout = works(withoutInotify.command[0] ?? "", ...withoutInotify.command.slice(1), "true");

  /** Starts a watcher; `sees(n)` waits until it knows of n tasks and answers after how long. */
  async function watcher(dir: string, around?: Around) {
    const one = await spawnStore({ dir, segmentBytes: 3_000 }, around);
    await one.ask({ op: "watch" });
    await until(() => one.said.some((message) => "tasks" in message), "it watches");
    return {
      said: one.said,
      async sees(count: number): Promise<number> {
        const start = performance.now();
        await until(() => one.said.some(({ tasks }) => tasks === count), `${count} tasks are seen`, 5_000);
        return performance.now() - start;
      },
    };
  }

  test("a change of another process is seen within 500 ms, the last of a burst as well", async () => {
    const dir = loopDir();
    const { store } = opened(dir, { segmentBytes: 3_000 });
    const { sees } = await watcher(dir);
    let count = 0;
    for (let round = 0; round < 12; round++) {
      for (let n = 0; n < 1 + (round % 4) * 5; n++) await store.commit(creation(newTask(idOf(++count))));
      expect(await sees(count)).toBeLessThan(WITHIN_MS);
    }
  });

  test("also after the folder was removed and made again", async () => {
    const dir = loopDir();
    const { store } = opened(dir);
    await store.commit(creation(newTask(A)));
    const { sees } = await watcher(dir);
    rmSync(dir, { recursive: true });
    expect(await sees(0)).toBeLessThan(WITHIN_MS);
    mkdirSync(dir);
    for (let n = 1; n <= 3; n++) await store.commit(creation(newTask(idOf(n))));
    expect(await sees(3)).toBeLessThan(WITHIN_MS);
  });

  test.skipIf(!canDoWithout)("also where the system has no watches left, and says so once", async () => {
    const dir = loopDir();
    const { store } = opened(dir);
    const { sees, said } = await watcher(dir, withoutInotify);
    for (let n = 1; n <= 4; n++) {
      await store.commit(creation(newTask(idOf(n))));
      expect(await sees(n)).toBeLessThan(WITHIN_MS);
    }
    expect(said.filter((message) => "said" in message)).toEqual([
      { said: expect.stringMatching(/^Cannot watch .*; looking every 250 ms instead\.$/) },
    ]);
  });

  test("after it was stopped it is silent", async () => {
    const dir = loopDir();
    const { store } = opened(dir);
    const calls = { stopped: 0, other: 0 };
    const resources = () => process.getActiveResourcesInfo().filter((name) => /Timeout|FSEvent/.test(name));
    const before = resources().length;
    const stop = store.watch(() => {
      calls.stopped += 1;
    });
    const stopOther = store.watch(() => {
      calls.other += 1;
    });
    await until(() => calls.stopped > 0 && calls.other > 0, "both watch");
    stop();
    const { stopped, other } = calls;
    await store.commit(creation(newTask(A)));
    await until(() => calls.other > other, "the other one is called");
    expect(calls.stopped).toBe(stopped);
    stopOther();
    await until(() => resources().length <= before, "timers and watches are gone", 2_000);
  });
});
