/** The table of folders in docs/design.md is that of the source tree. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error: a script without types
import { withTable } from "../scripts/folders.mjs";

const page = join(import.meta.dirname, "..", "docs", "design.md");

test("docs/design.md counts the files of each folder; `npm run folders` writes the table", () => {
  const text = readFileSync(page, "utf8");
  expect(text).toBe(withTable(text));
});

test("a table that is not true is found", () => {
  const text = readFileSync(page, "utf8").replace(
    /\| `src\/core\/task` \| \d+ \|/,
    "| `src/core/task` | 0 |",
  );
  expect(text).not.toBe(withTable(text));
});
