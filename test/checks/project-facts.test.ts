import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readProjectFacts } from "../../src/checks/project-facts.ts";
import { splitUntil } from "../../src/core/spec/phrases.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "facts-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const write = (name: string, content: unknown) =>
  writeFileSync(join(dir, name), typeof content === "string" ? content : JSON.stringify(content));

describe("B6 what a project is made with", () => {
  test("scripts, files and the package manager by its lock", () => {
    write("package.json", { scripts: { test: "vitest run", "test:unit": "vitest run unit", odd: 3 } });
    write("pnpm-lock.yaml", "");
    mkdirSync(join(dir, "src"));
    expect(readProjectFacts(dir)).toEqual({
      packageManager: "pnpm",
      scripts: ["test", "test:unit"],
      files: ["package.json", "pnpm-lock.yaml", "src"],
    });
  });

  test.each([
    ["package-lock.json", "npm"],
    ["yarn.lock", "yarn"],
    ["bun.lock", "bun"],
    ["bun.lockb", "bun"],
    ["other.lock", null],
  ])("%s is of %s", (lock, manager) => {
    write("package.json", {});
    write(lock, "");
    expect(readProjectFacts(dir).packageManager).toBe(manager);
  });

  test("what package.json says of the manager comes before a lock", () => {
    write("package.json", { packageManager: "yarn@4.1.0" });
    write("package-lock.json", "");
    expect(readProjectFacts(dir).packageManager).toBe("yarn");
  });

  test("the test script of npm init is no test", () => {
    write("package.json", { scripts: { test: 'echo "Error: no test specified" && exit 1' } });
    expect(readProjectFacts(dir).scripts).toEqual([]);
    expect(splitUntil(["tests pass", "x"], readProjectFacts(dir)).unknown).toBe("tests pass");
  });

  test.each([
    "",
    "{",
    "null",
    "[]",
    "3",
    '"x"',
    '{"scripts":[]}',
    '{"scripts":null}',
    '{"packageManager":3}',
  ])("a package.json of %j has nothing", (text) => {
    write("package.json", text);
    expect(readProjectFacts(dir)).toEqual({ packageManager: null, scripts: [], files: ["package.json"] });
  });

  test("no folder, a file, a link, a folder or a pipe of that name: no facts, and no waiting", () => {
    const nothing = { packageManager: null, scripts: [] };
    expect(readProjectFacts(join(dir, "none"))).toEqual({ ...nothing, files: [] });
    write("file", "");
    expect(readProjectFacts(join(dir, "file"))).toEqual({ ...nothing, files: [] });
    write("elsewhere", { scripts: { test: "x" } });
    symlinkSync(join(dir, "elsewhere"), join(dir, "package.json"));
    expect(readProjectFacts(dir)).toMatchObject(nothing);
    rmSync(join(dir, "package.json"));
    mkdirSync(join(dir, "package.json"));
    expect(readProjectFacts(dir)).toMatchObject(nothing);
    rmSync(join(dir, "package.json"), { recursive: true });
    execFileSync("mkfifo", [join(dir, "package.json")]);
    expect(readProjectFacts(dir)).toMatchObject(nothing);
  });
});
