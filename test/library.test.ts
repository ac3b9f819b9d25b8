/** The example of docs/library.md, word for word, as a program of its own. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

test("A15 the library: the documented example creates a task and runs an engine", () => {
  const root = join(import.meta.dirname, "..");
  const [, example = ""] =
    /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, "docs/library.md"), "utf8")) ?? [];
  expect(example).toContain("60_000");
  const folder = mkdtempSync(join(tmpdir(), "loopwright-library-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = example
    .replace('"loopwright"', JSON.stringify(join(root, "dist/index.js")))
    .replace("60_000", "700");
  writeFileSync(join(folder, "example.mjs"), program);
  const output = execFileSync(process.execPath, ["example.mjs"], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: folder },
  });
  expect(output).toContain("humanSchedule: 'Every 5 minutes'");
  expect(output.trimEnd().split("\n")).toContain("role");
});
