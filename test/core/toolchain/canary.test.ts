/** The test that must fail, and the structured report, of the runners that are on this machine. */
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOOLS } from "../../../src/core/toolchain/table.ts";
import type { Canary, StructuredReport } from "../../../src/core/toolchain/tool.ts";

const MAIN = ["node", "vitest", "jest", "mocha", "pytest", "unittest", "cargo", "go"];
const NAME = "loop_canary_x7";
const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));

interface Proving {
  readonly report: StructuredReport;
  readonly canary: Canary;
}

function provingOf(name: string): Proving {
  const tests = TOOLS.find((tool) => tool.name === name && tool.tests?.canary !== undefined)?.tests;
  if (tests?.report === undefined || tests.canary === undefined) throw new Error(`${name} has no canary`);
  return { report: tests.report, canary: tests.canary };
}

const isThere = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

interface Runner {
  readonly name: string;
  readonly start: readonly string[];
  readonly rest?: readonly string[];
  /** Files besides the canary. */
  readonly files?: Readonly<Record<string, string>>;
  readonly isOnMachine: boolean;
}

/** They take seconds to start. */
const isLong = process.env.LOOP_TEST_LONG !== undefined;

const RUNNERS: readonly Runner[] = [
  {
    name: "node",
    start: [process.execPath, "--test"],
    files: { "ok.test.mjs": 'import test from "node:test";\ntest("is green", () => {});\n' },
    isOnMachine: true,
  },
  {
    name: "vitest",
    start: [join(modules, ".bin/vitest"), "run"],
    files: { "ok.test.mjs": 'import { test } from "vitest";\ntest("is green", () => {});\n' },
    isOnMachine: true,
  },
  { name: "unittest", start: ["python3", "-m", "unittest"], isOnMachine: isThere("python3", "--version") },
  {
    name: "pytest",
    start: ["python3", "-m", "pytest"],
    files: { "test_ok.py": "def test_ok():\n    assert True\n" },
    isOnMachine: isLong && isThere("python3", "-c", "import pytest"),
  },
  {
    name: "cargo",
    start: ["cargo", "test"],
    rest: ["--offline"],
    files: {
      "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": "",
    },
    isOnMachine: isLong && isThere("cargo", "--version"),
  },
];

describe("a test that must fail", () => {
  let root = "";
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "canary-"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test.each(MAIN)("%s has one, and a report that names it", (name) => {
    const { report, canary } = provingOf(name);
    expect(canary.text).toContain("{name}");
    expect(canary.reported).toContain("{name}");
    expect(report.words.join(" ").includes("{file}") || report.line !== undefined || name === "go").toBe(
      true,
    );
  });

  test.for(RUNNERS)(
    "$name reports it by its name as failed, beside what is green",
    { timeout: 60_000 },
    async ({ name, start, rest = [], files, isOnMachine }, { skip }) => {
      if (!isOnMachine) skip();
      const { report, canary } = provingOf(name);
      const folder = join(root, name);
      for (const [path, text] of Object.entries({ ...files, [canary.file]: canary.text })) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text.replaceAll("{name}", NAME));
      }
      if (name === "vitest") symlinkSync(modules, join(folder, "node_modules"));
      const file = join(folder, "report.xml");
      const words = report.words.map((word) => word.replace("{file}", file));
      const [program = "", ...args] =
        report.place === "start" ? [...start, ...words, ...rest] : [...start, ...rest, ...words];
      const { code, output } = await run(program, args, folder);
      const results =
        report.line === undefined ? fromJUnit(readFileSync(file, "utf8")) : fromLines(output, report.line);
      expect(code, output).not.toBe(0);
      expect(results.get(canary.reported.replace("{name}", NAME)), output).toBe("failed");
      expect([...results.values()].filter((result) => result === "failed")).toHaveLength(1);
    },
  );
});

function run(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ code: number; output: string }> {
  // a runner in a runner takes its parent's reporter for its own
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:NODE_|VITEST)/.test(name)),
  );
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` });
    });
  });
}

function fromJUnit(xml: string): Map<string, "passed" | "failed"> {
  const results = new Map<string, "passed" | "failed">();
  for (const [, attributes = "", body = ""] of xml.matchAll(
    /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const [, title = ""] = /\bname="([^"]*)"/.exec(attributes) ?? [];
    results.set(title, /<(?:failure|error)\b/.test(body) ? "failed" : "passed");
  }
  return results;
}

function fromLines(output: string, line: RegExp): Map<string, "passed" | "failed"> {
  const found = [...output.matchAll(line)];
  return new Map(
    found.map(({ groups = {} }) => [groups.name ?? "", groups.result === "ok" ? "passed" : "failed"]),
  );
}
