/** What people write for the agents of a backlog, on a real disk with whatever may lie there. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { defaultPrompts, PROMPT_ROLES } from "../../../src/core/backlog/prompts/prompt-texts.ts";
import { LoopError } from "../../../src/errors.ts";
import { CONFIG_MODES } from "../../../src/schema/backlog-config.ts";
import {
  analysisPath,
  contractPath,
  progressPath,
  promptPath,
  readAnalysis,
  readContract,
  readProgressTail,
  readPrompts,
} from "../../../src/store/files/prompt-files.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const base = (root: string) => promptPath(root, "generator", "_base");
const read = (root: string) => readPrompts(root, "generator", "fix");

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(LoopError);
    return (error as LoopError).message;
  }
  throw new Error("it did not throw");
}

describe("C2 C4 a project's own prompts", () => {
  test.each(PROMPT_ROLES.flatMap((role) => CONFIG_MODES.map((mode) => [role, mode] as const)))(
    "none for the %s in %s: the default, with and without a .loop",
    (role, mode) => {
      const root = tempDir();
      expect(readPrompts(root, role, mode)).toEqual(defaultPrompts(role, mode));
      mkdirSync(join(root, ".loop"));
      expect(readPrompts(root, role, mode)).toEqual(defaultPrompts(role, mode));
    },
  );

  test("each file stands for itself: role, base and mode", () => {
    const root = tempDir();
    put(join(root, ".loop/prompts/generator/_base.md"), "our base {{MODE}}\n");
    put(join(root, ".loop/prompts/evaluator/fix.md"), "\u{feff}our fix");
    const ours = defaultPrompts("generator", "fix");
    expect(read(root)).toEqual({ base: { text: "our base {{MODE}}\n", path: base(root) }, mode: ours.mode });
    expect(readPrompts(root, "evaluator", "fix")).toEqual({
      base: defaultPrompts("evaluator", "fix").base,
      mode: { text: "our fix", path: promptPath(root, "evaluator", "fix") },
    });
    expect(readPrompts(root, "evaluator", "explore")).toEqual(defaultPrompts("evaluator", "explore"));
  });

  test("a link inside of the project is followed", () => {
    const root = tempDir();
    put(join(root, "docs/prompt.md"), "shared");
    mkdirSync(dirname(base(root)), { recursive: true });
    symlinkSync("../../../docs/prompt.md", base(root));
    expect(read(root).base).toEqual({ text: "shared", path: base(root) });
  });
});

describe("H4 H5 what is refused, each with one sentence that names the file", () => {
  test("a link out of the project: of the file, of a folder above it, of .loop itself", () => {
    const outside = tempDir();
    put(join(outside, "_base.md"), "secret");
    put(join(outside, "prompts/generator/_base.md"), "secret");
    const links: [string, string][] = [
      [".loop/prompts/generator/_base.md", join(outside, "_base.md")],
      [".loop/prompts/generator", outside],
      [".loop/prompts", join(outside, "prompts")],
      [".loop", outside],
    ];
    for (const [at, to] of links) {
      const root = tempDir();
      mkdirSync(dirname(join(root, at)), { recursive: true });
      symlinkSync(to, join(root, at));
      expect(messageOf(() => read(root))).toMatch(/ is a link that leads out of the project/);
    }
  });

  test("a link that leads nowhere", () => {
    const root = tempDir();
    mkdirSync(dirname(base(root)), { recursive: true });
    symlinkSync("nowhere.md", base(root));
    expect(messageOf(() => read(root))).toBe(
      `${base(root)} is a link that leads out of the project, or nowhere.`,
    );
  });

  test.each<[string, (path: string) => void, RegExp]>([
    ["an empty file", (path) => put(path, " \n"), / is empty\.$/],
    ["a folder", (path) => mkdirSync(path, { recursive: true }), /: it is a folder\.$/],
    [
      "a pipe, without waiting for its other end",
      (path) => {
        mkdirSync(dirname(path), { recursive: true });
        execFileSync("mkfifo", [path]);
      },
      / is not a plain file \(it is a pipe, a socket or a device\)\.$/,
    ],
    [
      "a file that is far too long",
      (path) => {
        put(path, "x");
        truncateSync(path, 300 * 1024);
      },
      / is larger than 256 KiB\.$/,
    ],
  ])("%s", (_, make, message) => {
    const root = tempDir();
    make(base(root));
    const said = messageOf(() => read(root));
    expect(said).toMatch(message);
    expect(said).toContain(base(root));
  });

  test.skipIf(process.getuid?.() === 0)("a file that is closed to us", () => {
    const root = tempDir();
    put(base(root), "x");
    chmodSync(base(root), 0);
    expect(messageOf(() => read(root))).toBe(`Cannot read ${base(root)}: permission denied.`);
  });

  test.each(["../../etc/passwd", "a/b", "", "..", ".hidden", "a\0b", "x".repeat(65)])(
    "%j is no part of a path",
    (id) => {
      const root = tempDir();
      for (const path of [contractPath, analysisPath, readContract, readAnalysis])
        expect(messageOf(() => path(root, id))).toContain("cannot be the id of a story");
    },
  );
});

describe("C2 contracts and analyses", () => {
  test("by the story's id; null when there is none", () => {
    const root = tempDir();
    expect([readContract(root, "US-001"), readAnalysis(root, "US-001")]).toEqual([null, null]);
    put(join(root, ".loop/contracts/US-001.contract.md"), "a contract\n");
    put(join(root, ".loop/triage/US-001-analysis.md"), "found\n");
    expect([readContract(root, "US-001"), readAnalysis(root, "US-001")]).toEqual(["a contract\n", "found\n"]);
    expect(readContract(root, "US-002")).toBeNull();
  });
});

describe("C10 the end of progress.md", () => {
  test("none is empty; a short one is whole", () => {
    const root = tempDir();
    expect(readProgressTail(root)).toBe("");
    put(progressPath(root), "\u{feff}### A\n---\n");
    expect(readProgressTail(root)).toBe("### A\n---\n");
  });

  test("of a long one the last lines, none of them cut, none with half a letter", () => {
    const root = tempDir();
    const line = `${"é".repeat(50)} — 漢字 👍`;
    put(progressPath(root), `first\n${`${line}\n`.repeat(10_000)}last\n`);
    const lines = readProgressTail(root).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(100);
    expect(Buffer.byteLength(lines.join("\n"))).toBeLessThanOrEqual(64 * 1024);
    expect(new Set(lines)).toEqual(new Set([line, "last"]));
  });

  test("H4 a link out of the project is refused", () => {
    const [root, outside] = [tempDir(), tempDir()];
    put(join(outside, "progress.md"), "secret");
    mkdirSync(join(root, ".loop"));
    symlinkSync(join(outside, "progress.md"), progressPath(root));
    expect(messageOf(() => readProgressTail(root))).toContain("leads out of the project");
  });
});
