/** What only a folder can suffer: the journal is cut, damaged or replaced under a reader. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { creation, idOf, NOW, newTask } from "../fixtures/tasks.ts";

async function storeWith(
  count: number,
): Promise<{ store: FolderStore; journal: string; add: (n: number) => Promise<unknown> }> {
  const root = mkdtempSync(join(tmpdir(), "loopwright-history-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const dir = ensureLoopDir(root);
  const store = new FolderStore(dir, { now: () => NOW, say: () => {} });
  const add = (n: number) => store.commit(creation(newTask(idOf(n))));
  for (let n = 1; n <= count; n++) await add(n);
  return { store, journal: join(dir, "journal.jsonl"), add };
}

async function idsAfter(store: FolderStore, after?: string): Promise<string[]> {
  const page = await store.history.read(after === undefined ? {} : { after });
  if (page.kind !== "page") throw new Error(page.kind);
  return page.entries.map(({ loopId }) => loopId);
}

test("a journal that was cut and grew again does not pass for the one that the cursor is of", async () => {
  const { store, journal, add } = await storeWith(3);
  const cursor = await store.history.end();
  truncateSync(journal, readFileSync(journal).length - 200);
  await add(4);
  await add(5);
  expect(await store.history.read({ after: cursor })).toEqual({ kind: "too-old" });
});

test("a journal that was replaced by another one is noticed, also by a reader that stands in it", async () => {
  const { store, journal, add } = await storeWith(4);
  const four = readFileSync(journal);
  truncateSync(journal);
  await add(7);
  const page = await store.history.read();
  writeFileSync(journal, four);
  const after = page.kind === "page" ? page.next : "";
  expect(await store.history.read({ after })).toEqual({ kind: "too-old" });
  expect(await idsAfter(store)).toHaveLength(4);
});

test("a damaged line is left out, and the cursor before it leads to what comes behind", async () => {
  const { store, journal, add } = await storeWith(1);
  const cursor = await store.history.end();
  appendFileSync(journal, '{"v":1,"type":"loop","torn\n');
  await add(2);
  expect(await idsAfter(store, cursor)).toEqual([idOf(2)]);
  expect(await idsAfter(store)).toEqual([idOf(1), idOf(2)]);
});

test("a line without its end is read once it is whole", async () => {
  const { store, journal } = await storeWith(2);
  const whole = readFileSync(journal);
  writeFileSync(journal, whole.subarray(0, whole.length - 10));
  const page = await store.history.read();
  expect(page).toMatchObject({ kind: "page", isEnd: true, entries: [{ loopId: idOf(1) }] });
  writeFileSync(journal, whole);
  expect(await idsAfter(store, page.kind === "page" ? page.next : "")).toEqual([idOf(2)]);
});
