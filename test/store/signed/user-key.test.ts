/** H2 the key of this user on this machine: made once, private, and never guessed. */
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { ReachedFile } from "../../../src/store/signed/reached.ts";
import { readUserKey, userKey } from "../../../src/store/signed/user-key.ts";
import { idOf } from "../fixtures/tasks.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

test("H2 the key is made on first use, for the person alone, and stays", () => {
  const env = { HOME: tempDir() };
  expect(readUserKey(env)).toBeNull();
  const key = userKey(env);
  expect(key.length).toBe(32);
  expect(userKey(env).equals(key)).toBe(true);
  const path = join(env.HOME, ".config", "loopwright", "key");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
  expect(userKey({ HOME: tempDir() }).equals(key)).toBe(false);
});

test.each<[string, (path: string) => void, RegExp]>([
  ["that others can read", (path) => chmodSync(path, 0o644), /can be read by other users/],
  ["that is damaged", (path) => writeFileSync(path, "short\n"), /is damaged/],
  ["that is empty", (path) => writeFileSync(path, ""), /is damaged/],
])("H2 H5 a key %s is a sentence, not a key", (_, change, sentence) => {
  const env = { HOME: tempDir() };
  userKey(env);
  change(join(env.HOME, ".config", "loopwright", "key"));
  expect(() => readUserKey(env)).toThrow(sentence);
});

test("H2 a key behind a link, or in a folder that others can write to, is not used", () => {
  const env = { HOME: tempDir() };
  const elsewhere = join(tempDir(), "key");
  writeFileSync(elsewhere, `${"0".repeat(64)}\n`, { mode: 0o600 });
  const folder = join(env.HOME, ".config", "loopwright");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  symlinkSync(elsewhere, join(folder, "key"));
  expect(() => readUserKey(env)).toThrow();
  const open = { HOME: tempDir() };
  mkdirSync(join(open.HOME, ".config", "loopwright"), { recursive: true });
  chmodSync(join(open.HOME, ".config", "loopwright"), 0o777);
  expect(() => userKey(open)).toThrow(/is writable for other users/);
});

const PLACE = { generation: 1, bytes: 100 };
const A = idOf(1);

test("A13 J5 the record keeps the highest version of a loop, until a person says which one counts", () => {
  const env = { HOME: tempDir() };
  const reached = new ReachedFile(env, "0".repeat(32));
  const note = { id: A, isOver: false, isSynced: true, place: PLACE };
  for (const version of [1, 3, 2]) reached.note({ ...note, version });
  expect(reached.read().loops.get(A)).toEqual({ version: 3, isOver: false });
  reached.note({ ...note, version: 1, isReset: true });
  expect(reached.read().loops.get(A)?.version).toBe(1);
});

test("H1 J5 a line that was not on disk is demanded until the next boot only", () => {
  const env = { HOME: tempDir() };
  const reached = new ReachedFile(env, "0".repeat(32));
  reached.note({ id: A, version: 1, isOver: false, isSynced: true, place: PLACE });
  reached.note({ id: A, version: 2, isOver: false, isSynced: false, place: PLACE });
  expect(reached.read().loops.get(A)?.version).toBe(2);
  const path = join(env.HOME, ".config", "loopwright", "reached", "0".repeat(32));
  writeFileSync(path, readFileSync(path, "utf8").replace(/w\w+$/m, "wanotherboot"));
  expect(reached.read().loops.get(A)?.version).toBe(1);
});

test("A13 J5 the record stays small, and loses nothing by that", () => {
  const env = { HOME: tempDir() };
  const reached = new ReachedFile(env, "0".repeat(32));
  for (let n = 1; n <= 6_000; n++) {
    const version = Math.ceil(n / 3);
    reached.note({ id: idOf(n % 3), version, isOver: false, isSynced: true, place: PLACE });
  }
  const path = join(env.HOME, ".config", "loopwright", "reached", "0".repeat(32));
  expect(statSync(path).size).toBeLessThan(70_000);
  for (const id of [0, 1, 2].map(idOf)) expect(reached.read().loops.get(id)?.version).toBe(2_000);
});
