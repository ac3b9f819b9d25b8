/** D9: `.loop/progress.json`, published whole and only when it tells something new, and read with care. */
import {
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type Progress, progressOf } from "../../../src/core/views/progress.ts";
import { ProgressFile, readProgress } from "../../../src/store/files/progress-file.ts";
import { keepSessionCost, readSessionCost } from "../../../src/store/ledger/session-cost.ts";
import { aGoal, aJob, START } from "../../support/goals/goals.ts";
import { every, MINUTE, task } from "../../support/tasks.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const LEASE = { owner: "session:abc", pid: 1, procStart: null, host: "box", token: 3, acquiredAt: START };

function aProgress(now = START, lease: typeof LEASE | null = LEASE): Progress {
  const goals = [aGoal({ job: aJob() }), aGoal({ id: "00000002" as never, createdAt: START - 1 })];
  return progressOf([task(every(5 * MINUTE)), ...goals], lease, now);
}

function setUp() {
  const dir = tempDir();
  const said: string[] = [];
  const path = join(dir, "progress.json");
  return { dir, path, said, file: new ProgressFile(dir, (message) => said.push(message)) };
}

describe("publishing", () => {
  test("D9 H4 what was published is read back the same; only its owner may read it", () => {
    const { dir, path, file, said } = setUp();
    file.publish(aProgress());
    expect(readProgress(dir)).toEqual({ ...aProgress(), folder: statSync(dir).ino });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(["progress.json"]);
    expect(said).toEqual([]);
  });

  test("D9 a later moment alone is nothing new, for no process that publishes", () => {
    const { dir, path, file } = setUp();
    file.publish(aProgress());
    const before = statSync(path).ino;
    file.publish(aProgress(START + MINUTE));
    new ProgressFile(dir, () => {}).publish(aProgress(START + 2 * MINUTE));
    expect(statSync(path).ino).toBe(before);
    file.publish(aProgress(START + 3 * MINUTE, null));
    expect(readProgress(dir)).toMatchObject({ at: "2026-01-05T10:03:00.000Z", lease: null });
  });

  test("D9 what another process or a person wrote is written over", () => {
    const { dir, path, file } = setUp();
    file.publish(aProgress());
    for (const text of ["", "{", '{"version":1}', "x".repeat(300_000)]) {
      writeFileSync(path, text);
      file.publish(aProgress());
      expect(readProgress(dir)?.goal?.id).toBe("b7c1d2e3");
    }
  });

  test("A13 the file is replaced, never written into", () => {
    const { dir, path, file } = setUp();
    file.publish(aProgress());
    const old = readFileSync(path, "utf8");
    linkSync(path, join(dir, "kept"));
    file.publish(aProgress(START, null));
    expect(readFileSync(join(dir, "kept"), "utf8")).toBe(old);
  });

  test("H4 a link in its place is replaced, and what it leads to stays as it is", () => {
    const { dir, path, file } = setUp();
    const target = join(tempDir(), "theirs");
    writeFileSync(target, "theirs");
    symlinkSync(target, path);
    expect(readProgress(dir)).toBeNull();
    file.publish(aProgress());
    expect(readFileSync(target, "utf8")).toBe("theirs");
    expect(readProgress(dir)).not.toBeNull();
  });

  test("D9 what is in its way is said once, and once more when it comes back", () => {
    const { path, file, said } = setUp();
    mkdirSync(join(path, "in the way"), { recursive: true });
    file.publish(aProgress());
    file.publish(aProgress());
    expect(said).toEqual([expect.stringMatching(/^Cannot write .*progress\.json: .*\.$/)]);
    rmSync(path, { recursive: true });
    file.publish(aProgress());
    rmSync(path);
    mkdirSync(join(path, "in the way"), { recursive: true });
    file.publish(aProgress());
    expect(said).toHaveLength(2);
  });
});

describe("reading", () => {
  test("H2 a copy of the folder tells nothing: it is of another one", () => {
    const { dir, file } = setUp();
    file.publish(aProgress());
    const copy = join(tempDir(), "copy");
    cpSync(dir, copy, { recursive: true });
    expect(readProgress(dir)).not.toBeNull();
    expect(readProgress(copy)).toBeNull();
  });

  test("D9 H5 a value of the wrong kind anywhere, or none, and nothing is believed", () => {
    const { dir, path, file } = setUp();
    file.publish(aProgress());
    const text = readFileSync(path, "utf8");
    // not looked at by whoever reads it
    const free = /^(?:at|tasks\.next.*|.*steps(?:Done|Total))$/i;
    const paths = pathsOf(JSON.parse(text)).filter((each) => !free.test(each.join(".")));
    expect(paths.length).toBeGreaterThan(40);
    for (const at of paths) {
      for (const wrong of [{}, undefined, [[]], true]) {
        writeFileSync(path, JSON.stringify(withValue(JSON.parse(text), at, wrong)));
        expect(readProgress(dir), `${at.join(".")} = ${JSON.stringify(wrong)}`).toBeNull();
      }
    }
  });

  test("D9 H5 anything at all has an answer", () => {
    const { dir, path } = setUp();
    const { ino } = statSync(dir);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        writeFileSync(path, JSON.stringify(value));
        expect(readProgress(dir)).toBeNull();
        writeFileSync(path, JSON.stringify({ ...aProgress(), folder: ino, goal: value }));
        expect(readProgress(dir)?.goal ?? null).toBeNull();
      }),
    );
  });
});

describe("what a conversation cost", () => {
  test("E1 D7 is kept as a number, and written only when it changed", () => {
    const { dir } = setUp();
    mkdirSync(join(dir, "sessions"));
    expect(readSessionCost(dir, "abc-1")).toBeNull();
    keepSessionCost(dir, "abc-1", 1.25);
    const path = join(dir, "sessions", "abc-1.cost");
    expect(readFileSync(path, "utf8")).toBe("1.25\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { ino } = statSync(path);
    keepSessionCost(dir, "abc-1", 1.25);
    expect(statSync(path).ino).toBe(ino);
    keepSessionCost(dir, "abc-1", 1.5);
    expect(readSessionCost(dir, "abc-1")).toBe(1.5);
    expect(readdirSync(join(dir, "sessions"))).toEqual(["abc-1.cost"]);
  });

  test.each(["", "..", "../abc", "a/b", "a.b", "a b", "a\n", "a\0", "é", "a".repeat(65)])(
    "H4 %j is no name of a conversation",
    (session) => {
      const { dir } = setUp();
      mkdirSync(join(dir, "sessions"));
      keepSessionCost(dir, session, 1);
      expect(readdirSync(dir)).toEqual(["sessions"]);
      expect(readdirSync(join(dir, "sessions"))).toEqual([]);
      expect(readSessionCost(dir, session)).toBeNull();
    },
  );

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1])("H5 %d is no cost", (cost) => {
    const { dir } = setUp();
    mkdirSync(join(dir, "sessions"));
    keepSessionCost(dir, "abc", cost);
    expect(readdirSync(join(dir, "sessions"))).toEqual([]);
  });

  test.each(["", "\n", "x", "-1", "1 2", "NaN", "Infinity", "1".repeat(65)])(
    "H5 %j in the file is none",
    (text) => {
      const { dir } = setUp();
      mkdirSync(join(dir, "sessions"));
      writeFileSync(join(dir, "sessions", "abc.cost"), text);
      expect(readSessionCost(dir, "abc")).toBeNull();
    },
  );

  test("H4 without the folder, or with a link in its place, nothing is kept", () => {
    const { dir } = setUp();
    keepSessionCost(dir, "abc", 1);
    expect(readdirSync(dir)).toEqual([]);
    const outside = tempDir();
    symlinkSync(outside, join(dir, "sessions"));
    keepSessionCost(dir, "abc", 1);
    expect(readdirSync(outside)).toEqual([]);
  });
});

type Path = readonly (string | number)[];

function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [at];
  const inside = Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...at, key]));
  return at.length === 0 ? inside : [at, ...inside];
}

function withValue(whole: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const copy = (Array.isArray(whole) ? [...whole] : { ...(whole as object) }) as Record<string, unknown>;
  copy[key] = withValue(copy[key], rest, value);
  return copy;
}
