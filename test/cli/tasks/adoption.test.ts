/** A person writes tasks.json while a process carries out what stood in it before. */

import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Io } from "../../../src/cli/io.ts";
import type { Project } from "../../../src/cli/project.ts";
import { adoptEdits, hasEdits } from "../../../src/cli/tasks/requests.ts";
import { defaultConfig } from "../../../src/schema/config.ts";
import { readTasksFile } from "../../../src/store/files/tasks-file.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { openSigner } from "../../../src/store/signed/origin.ts";
import { creation, ending, idOf, newTask } from "../../store/fixtures/tasks.ts";
import { removeTempDirs, tempDir } from "../../store/fixtures/temp-dir.ts";
import { asTasks } from "../../support/only-tasks.ts";

afterEach(removeTempDirs);

const A = idOf(1);
const config = defaultConfig();

function openFolder(): { project: Project; path: string; io: Io; said: string[] } {
  const root = tempDir();
  const dir = ensureLoopDir(root);
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const io: Io = { out: say, say, json: () => {}, divert: () => () => {}, interactive: false, colour: false };
  const store = new FolderStore(dir, { now: Date.now, say });
  return { project: { root, dir, store }, path: join(dir, "tasks.json"), io, said };
}

const addTo = (text: string, ...prompts: string[]) => {
  const file = JSON.parse(text) as { tasks: object[] };
  for (const prompt of prompts) file.tasks.push({ prompt, everyMs: 60_000 });
  return JSON.stringify(file);
};
const promptsOf = ({ store }: Project) =>
  asTasks(store.loops())
    .map(({ prompt }) => prompt)
    .sort();

test("A12 A13 what is saved during the adoption is neither overwritten nor taken twice", async () => {
  const { project, path, io } = openFolder();
  const { store } = project;
  await store.commit(creation(newTask(A)));
  await store.published?.publish();
  const published = readFileSync(path, "utf8");
  writeFileSync(path, addTo(published, "first"));
  const second = addTo(published, "first", "second", "second");
  const commit = store.commit.bind(store);
  store.commit = async (wanted) => {
    store.commit = commit;
    const result = await commit(wanted);
    writeFileSync(path, second);
    return result;
  };
  await adoptEdits(project, config, io);
  expect(promptsOf(project)).toEqual(["check the deploy", "first"]);
  expect(readFileSync(path, "utf8")).toBe(second);
  await adoptEdits(project, config, io);
  expect(promptsOf(project)).toEqual(["check the deploy", "first", "second", "second"]);
  expect(readTasksFile(project.dir, openSigner(project.dir))).toMatchObject({ kind: "published" });
});

test("A12 A13 nor is what is saved at the very last moment of a publication", async () => {
  const { project, path } = openFolder();
  const { store } = project;
  await store.commit(creation(newTask(A)));
  await store.published?.publish();
  const edited = addTo(readFileSync(path, "utf8"), "mine");
  const lease = store.lease.bind(store);
  // asked for while the new file is put together, after the old one was read
  store.lease = () => {
    writeFileSync(path, edited);
    return lease();
  };
  await store.published?.publish();
  expect(readFileSync(path, "utf8")).toBe(edited);
});

test("A13 A20 a file that lost its journal and lists nothing is nothing to adopt, and is not written anew", async () => {
  const { project, path, io, said } = openFolder();
  const { store, dir } = project;
  const task = newTask(A);
  await store.commit(creation(task));
  await store.commit(ending(task));
  await store.published?.publish();
  rmSync(join(dir, "journal.jsonl"));
  const late = { ...project, store: new FolderStore(dir, { now: Date.now, say: io.say }) };
  const before = statSync(path);
  expect(hasEdits(late)).toBe(false);
  await adoptEdits(late, config, io);
  expect(statSync(path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  expect(said).toEqual([]);
});
