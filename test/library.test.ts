/** The examples of docs/library.md, word for word, as programs of their own. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** What the example prints. `replace` shortens it where a person would wait. */
function runExample(number: number, replace: (program: string) => string = (program) => program): string {
  const docs = readFileSync(join(root, "docs/library.md"), "utf8");
  const [, example = ""] = [...docs.matchAll(/```js\n([\s\S]*?)```/g)][number] ?? [];
  const folder = mkdtempSync(join(tmpdir(), "loopwright-library-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = replace(example)
    .replace('"loopwright"', JSON.stringify(join(root, "dist/index.js")))
    .replace('"loopwright/testing"', JSON.stringify(join(root, "dist/testing.js")));
  writeFileSync(join(folder, "example.mjs"), program);
  const env = { PATH: process.env.PATH, HOME: folder };
  return execFileSync(process.execPath, ["example.mjs"], { cwd: folder, encoding: "utf8", env });
}

test("A15 the library: the documented example creates a task and runs an engine", () => {
  const output = runExample(0, (program) => {
    expect(program).toContain("60_000");
    return program.replace("60_000", "700");
  });
  expect(output).toContain("humanSchedule: 'Every 5 minutes'");
  expect(output.trimEnd().split("\n")).toContain("role");
});

test("the documented observer tells of every loop and ends with its signal", () => {
  expect(runExample(1, (program) => program.replace("2_000", "300"))).toBe("version 1: 0 loops\n");
});

test("the documented test runs sixteen minutes of an engine on a store in memory", () => {
  expect(runExample(2)).toBe("3 fires, 10 entries\n");
});

test("the package leads to loopwright/testing by its name", () => {
  const program =
    'import("loopwright/testing").then((testing) => console.log(Object.keys(testing).sort().join()))';
  const output = execFileSync(process.execPath, ["-e", program], { cwd: root, encoding: "utf8" });
  expect(output).toBe("FakeClock,MemoryJournal,MemoryStore,settled\n");
});
