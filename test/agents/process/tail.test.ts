import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { tailLines } from "../../../src/agents/process/tail.ts";

const folder = mkdtempSync(join(tmpdir(), "loopwright-tail-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("J4 60 MB of short lines do not hold the runner up: a person stops it within 2 s", () => {
  const path = join(folder, "answer.txt");
  writeFileSync(path, `first\n${"y\n".repeat(30_000_000)}`);
  const lines: string[] = [];
  const tail = tailLines(path, 0, (line) => lines.push(line));
  const before = performance.now();
  tail.finish();
  expect(performance.now() - before).toBeLessThan(1_000);
  expect([lines[0], lines.length]).toEqual(["first", 400]);
});

test("the line that was not complete at the last look is shown whole", () => {
  const path = join(folder, "more.txt");
  writeFileSync(path, "one\ntwo");
  const lines: string[] = [];
  const tail = tailLines(path, 0, (line) => lines.push(line));
  tail.finish();
  expect(lines).toEqual(["one", "two"]);
});
