/** C10: a backlog that another one takes the place of. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Prd, PrdContent } from "../../../src/schema/prd.ts";
import { type Replacement, replacePrd } from "../../../src/store/files/archive.ts";
import { createFile, ensureFolder, replaceFile } from "../../../src/store/files/backlog-files.ts";
import { loadPrd, prdPath } from "../../../src/store/files/prd-file.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const NOW = Date.UTC(2026, 10, 5, 12);
const OLD = '{ "branchName": "loop/old", "userStories": [{ "id": "US-001", "title": "Old" }] }';
const NEW: PrdContent = { branchName: "loop/new", userStories: [{ id: "US-001", title: "New" }] };

function project(files: Readonly<Record<string, string>> = {}): string {
  const root = tempDir();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, ".loop", name, ".."), { recursive: true });
    writeFileSync(join(root, ".loop", name), text);
  }
  return root;
}

const read = (root: string, ...names: string[]) => readFileSync(join(root, ".loop", ...names), "utf8");
const archives = (root: string) =>
  existsSync(join(root, ".loop", "archive")) ? readdirSync(join(root, ".loop", "archive")).sort() : [];
const withNew = (): Replacement => ({ kind: "replace", content: NEW, archive: true });

const WHOLE = {
  "prd.json": OLD,
  "progress.md": "# Progress\nold",
  "contracts/US-001.contract.md": "old contract",
  "triage/TRIAGE_BRIEF.md": "old brief",
  "config.json": "{}",
  "templates/x": "mine",
};

describe("C10 what is there is archived first", () => {
  test("prd.json, progress, contracts and triage go; settings and templates stay", async () => {
    const root = project(WHOLE);
    const done = await replacePrd(root, withNew, NOW);
    const folder = join(root, ".loop", "archive", "2026-11-05-loop-old");
    expect(done).toMatchObject({ kind: "replaced", archived: folder, before: { branchName: "loop/old" } });
    expect(readFileSync(join(folder, "prd.json"), "utf8")).toBe(OLD);
    expect(readFileSync(join(folder, "contracts", "US-001.contract.md"), "utf8")).toBe("old contract");
    expect(readdirSync(folder).sort()).toEqual(["contracts", "prd.json", "progress.md", "triage"]);
    expect(loadPrd(root)?.prd.stories).toMatchObject([{ title: "New" }]);
    expect(readdirSync(join(root, ".loop")).sort()).toEqual(
      [".gitignore", "archive", "config.json", "origin", "prd.json", "templates"].sort(),
    );
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test("a second one of the same day has a folder of its own", async () => {
    const root = project(WHOLE);
    await replacePrd(root, withNew, NOW);
    await replacePrd(
      root,
      () => ({ ...withNew(), content: { ...NEW, branchName: "loop/old" } }) as Replacement,
      NOW,
    );
    await replacePrd(root, withNew, NOW);
    expect(archives(root)).toEqual(["2026-11-05-loop-new", "2026-11-05-loop-old", "2026-11-05-loop-old-2"]);
  });

  test("nothing there, or not wanted: there is no archive", async () => {
    const empty = project();
    expect(await replacePrd(empty, withNew, NOW)).toEqual({ kind: "replaced", archived: null, before: null });
    const root = project(WHOLE);
    await replacePrd(root, () => ({ kind: "replace", content: NEW, archive: false }), NOW);
    expect([archives(empty), archives(root), read(root, "progress.md")]).toEqual([[], [], "# Progress\nold"]);
  });
});

describe("C10 H5 nothing is lost", () => {
  test("refused: nothing is written, not even the folder", async () => {
    const refusal = { kind: "refused", message: "No.", hint: null } as const;
    const empty = project();
    expect(await replacePrd(empty, () => refusal, NOW)).toEqual(refusal);
    expect(existsSync(join(empty, ".loop"))).toBe(false);
  });

  test("C2 a prd.json that does not parse is said and left as it is", async () => {
    const root = project({ ...WHOLE, "prd.json": "{" });
    await expect(replacePrd(root, withNew, NOW)).rejects.toThrow(/prd\.json: not JSON/);
    expect([read(root, "prd.json"), archives(root)]).toEqual(["{", []]);
  });

  test("what an editor saved in between is archived too: it is decided anew", async () => {
    const root = project(WHOLE);
    const edited = OLD.replace("Old", "Edited");
    const seen: (string | undefined)[] = [];
    const decide = (before: Prd | null): Replacement => {
      seen.push(before?.stories[0]?.title);
      // after the decision under the lock has read it, before it is written
      if (seen.length === 2) writeFileSync(prdPath(root), edited);
      return withNew();
    };
    await replacePrd(root, decide, NOW);
    expect(seen).toEqual(["Old", "Old", "Edited"]);
    expect(archives(root)).toEqual(["2026-11-05-loop-old"]);
    expect(read(root, "archive", "2026-11-05-loop-old", "prd.json")).toBe(edited);
    expect(read(root, "archive", "2026-11-05-loop-old", "progress.md")).toBe("# Progress\nold");
  });

  test("an archive that cannot be made leaves all as it was", async () => {
    const root = project({ ...WHOLE, archive: "a file" });
    await expect(replacePrd(root, withNew, NOW)).rejects.toThrow();
    expect([read(root, "prd.json"), read(root, "progress.md")]).toEqual([OLD, "# Progress\nold"]);
  });

  test("H4 an archive that is a link out of the project is refused", async () => {
    const [root, other] = [project(WHOLE), tempDir()];
    symlinkSync(other, join(root, ".loop", "archive"));
    await expect(replacePrd(root, withNew, NOW)).rejects.toThrow(/leads out of the project/);
    expect([readdirSync(other), read(root, "prd.json")]).toEqual([[], OLD]);
  });
});

describe("C2 H4 files of a backlog", () => {
  test("are made once: what is there stays, also an empty file and a link", () => {
    const root = project({ "templates/a.md": "" });
    symlinkSync("/nowhere", join(root, ".loop", "templates", "b.md"));
    expect(["a.md", "b.md", "c.md"].map((name) => createFile(root, `templates/${name}`, "x"))).toEqual([
      false,
      false,
      true,
    ]);
    expect([read(root, "templates", "a.md"), read(root, "templates", "c.md")]).toEqual(["", "x"]);
  });

  test("are replaced whole; a link in the way is replaced and not followed", () => {
    const [root, other] = [project({ "triage/x": "" }), tempDir()];
    writeFileSync(join(other, "theirs"), "theirs");
    symlinkSync(join(other, "theirs"), join(root, ".loop", "triage", "BRIEF.md"));
    const path = replaceFile(root, "triage/BRIEF.md", "ours");
    expect([basename(path), readFileSync(path, "utf8")]).toEqual(["BRIEF.md", "ours"]);
    expect(readFileSync(join(other, "theirs"), "utf8")).toBe("theirs");
  });

  test("no folder is made behind a link", () => {
    const [root, other] = [project({ x: "" }), tempDir()];
    symlinkSync(other, join(root, ".loop", "prompts"));
    expect(() => ensureFolder(root, "prompts/generator")).toThrow(/leads out of the project/);
    expect(readdirSync(other)).toEqual([]);
  });
});
