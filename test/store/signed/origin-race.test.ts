/** Two first commands at once: one looks at the folder while the other creates its files (H2). */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { claimOrigin, originOf } from "../../../src/store/signed/origin.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

const meanwhile = vi.hoisted(() => ({ act: () => {} }));

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  const listAfter: unknown = (path: string) => {
    meanwhile.act();
    return fs.readdirSync(path);
  };
  return { ...fs, readdirSync: listAfter };
});

afterEach(removeTempDirs);

test("H2 the files that the other just created are not taken for foreign", () => {
  const dir = tempDir();
  meanwhile.act = () => {
    meanwhile.act = () => {};
    claimOrigin(dir);
    writeFileSync(join(dir, "journal.jsonl"), "");
  };
  expect(originOf(dir)).toBe("ours");
  expect(readdirSync(dir).sort()).toEqual(["journal.jsonl", "origin"]);
});
