/** What a resident process is told of the folder it works in. */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { folderIdentity } from "../../../src/store/folder/loop-dir.ts";
import { watchFolder } from "../../../src/store/folder/watch.ts";
import { until } from "../../support/until.ts";

function watched() {
  const dir = join(mkdtempSync(join(tmpdir(), "watch ")), ".loop");
  mkdirSync(dir);
  writeFileSync(join(dir, "journal.jsonl"), "");
  const seen: (string | null)[] = [];
  onTestFinished(
    watchFolder(
      dir,
      () => seen.push(folderIdentity(dir)),
      () => {},
    ),
  );
  return { dir, seen };
}

test("H1 a folder that is emptied, seen so, and removed only then: its end is told too", async () => {
  const { dir, seen } = watched();
  unlinkSync(join(dir, "journal.jsonl"));
  await until(() => seen.length > 1, "the missing journal is told");
  expect(seen.at(-1)).not.toBeNull();
  rmdirSync(dir);
  await until(() => seen.at(-1) === null, "the missing folder is told");
});

test("H1 a folder that was made anew in its place is another, also where the system gives the same inode", async () => {
  const { dir } = watched();
  const before = folderIdentity(dir);
  await until(() => {
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir);
    return folderIdentity(dir) !== before;
  }, "it has another identity");
});

test("A12 a folder that was made anew before anybody looked is watched again, also with the same inode", async () => {
  const { dir, seen } = watched();
  // its own probe: from then on it relies on the system
  await new Promise((resolve) => setTimeout(resolve, 300));
  rmSync(dir, { recursive: true });
  mkdirSync(dir);
  await until(() => seen.at(-1) === folderIdentity(dir), "the new folder is told");
  await new Promise((resolve) => setTimeout(resolve, 300));
  const told = seen.length;
  writeFileSync(join(dir, "journal.jsonl"), "a line\n");
  await until(() => seen.length > told, "its journal is told", 2_000);
});
