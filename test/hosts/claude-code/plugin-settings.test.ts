/** E1 one line in settings that belong to somebody else: every other byte stays as it is. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { isOlder, judgeVersion } from "../../../src/hosts/claude-code/install/client-version.ts";
import { putMarketplace, readPlugin } from "../../../src/hosts/claude-code/install/plugin-folder.ts";
import {
  CAP,
  removeSetting,
  type SettingPath,
  STATUS_LINE,
  writeSetting,
} from "../../../src/hosts/claude-code/install/project-settings.ts";
import { addMember, readMember, removeMember } from "../../../src/system/jsonc/edit.ts";
import { hashTree } from "../../support/cli.ts";

const VALUES: readonly (readonly [SettingPath, unknown])[] = [
  [CAP, "0"],
  [STATUS_LINE, { type: "command", command: "node 'x'", refreshInterval: 5 }],
];

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "loop it's "));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("a setting in a text", () => {
  const TEXTS = [
    ["two spaces", '{\n  "model": "x",\n  "env": {\n    "A": "1"\n  }\n}\n'],
    ["tabs", '{\n\t"env": {\n\t\t"A": "1"\n\t},\n\t"model": "x"\n}'],
    ["one line", '{"model":"x","env":{"A":"1"}}'],
    ["Windows line ends", '{\r\n  "model": "x"\r\n}\r\n'],
    ["nothing in it", "{}"],
    ["an empty env", '{\n  "env": {}\n}\n'],
    ["odd spacing", '\n { "model" :"x" ,\n\n   "hooks": {"Stop": []} }\n\n'],
    ["braces in texts", '{"a": "}{\\"\\\\", "b": [{"c": "]"}], "env": {"X": "{,}"}, "n": -1.5e3}\n'],
    ["the same name twice", '{"env": {"A": "1"}, "env": {"B": "2"}}'],
  ] as const;

  test.each(TEXTS)("E1 is added and taken out again, byte for byte, with %s", (_, text) => {
    for (const [path, value] of VALUES) {
      const hadParent = readMember(text, [path[0]]) !== undefined;
      const added = addMember(text, path, value);
      expect(readMember(added, path)).toEqual(value);
      expect(removeMember(added, path, !hadParent)).toBe(text);
      const [first, second = null] = path;
      const rest = JSON.parse(added);
      if (second === null || !hadParent) delete rest[first];
      else delete rest[first][second];
      expect(rest).toEqual(JSON.parse(text));
    }
  });

  test("E1 the line looks like the lines around it", () => {
    const text = '{\n    "env": {\n        "A": "1"\n    }\n}\n';
    expect(addMember(text, CAP, "0")).toBe(
      '{\n    "env": {\n        "A": "1",\n        "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"\n    }\n}\n',
    );
    expect(addMember("{}\n", CAP, "0")).toBe(
      '{\n  "env": {\n    "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"\n  }\n}\n',
    );
  });

  test("E1 whatever the settings are, all else is the same afterwards, and before again after that", () => {
    const settings = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => ({ ...value }));
    const spacing = fc.constantFrom(undefined, 1, 2, 4, "\t");
    fc.assert(
      fc.property(
        settings,
        fc.option(fc.dictionary(fc.string(), fc.string())),
        spacing,
        (other, env, space) => {
          const { env: _, statusLine: __, ...rest } = other;
          const before = env === null ? rest : { ...rest, env };
          const text = JSON.stringify(before, null, space);
          for (const [path, value] of VALUES) {
            if (readMember(text, path) !== undefined) continue;
            const added = addMember(text, path, value);
            expect(readMember(added, path)).toEqual(value);
            const undone = removeMember(added, path, readMember(text, [path[0]]) === undefined);
            expect(undone).toBe(text);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("a setting in a project", () => {
  test("E1 what was made for it goes with it, and only when nothing else is in it", () => {
    const project = makeFolder();
    const file = join(project, ".claude", "settings.local.json");
    const before = hashTree(project);
    const written = VALUES.map(([path, value]) => writeSetting(project, file, path, value));
    expect(written.map((each) => each?.made)).toEqual([
      { folder: true, file: true, parent: true },
      { folder: false, file: false, parent: false },
    ]);
    for (const each of written.toReversed()) expect(each !== null && removeSetting(each)).toBe(true);
    expect(hashTree(project)).toBe(before);

    const again = writeSetting(project, file, CAP, "0");
    writeFileSync(join(project, ".claude", "notes.md"), "mine");
    expect(again !== null && removeSetting(again)).toBe(true);
    expect(readFileSync(join(project, ".claude", "notes.md"), "utf8")).toBe("mine");
  });

  test("E1 a value that is there is kept: null, false and nothing count as one", () => {
    const project = makeFolder();
    const file = join(project, "settings.json");
    for (const value of ["null", "false", '""', "0"]) {
      const text = `{"statusLine": ${value}}`;
      writeFileSync(file, text);
      expect(writeSetting(project, file, STATUS_LINE, "ours")).toBeNull();
      expect(readFileSync(file, "utf8")).toBe(text);
    }
  });
});

describe("the copied plugin", () => {
  function makeSource(text: string): string {
    const source = makeFolder();
    for (const folder of [".claude-plugin", "claude-code/bin", "claude-code/.claude-plugin"])
      mkdirSync(join(source, folder), { recursive: true });
    writeFileSync(join(source, ".claude-plugin/marketplace.json"), "{}");
    writeFileSync(join(source, "claude-code/.claude-plugin/plugin.json"), '{"version":"1.2.3"}');
    writeFileSync(join(source, "claude-code/bin/files.json"), JSON.stringify({ "bin/a.cjs": HASHES[text] }));
    writeFileSync(join(source, "claude-code/bin/a.cjs"), text);
    return source;
  }
  const HASHES: Record<string, string> = {
    one: "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
    two: "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3",
  };

  test("E1 is whole or told what is wrong with it; the same build is not copied again", () => {
    const target = join(makeFolder(), "deep", "plugins");
    expect(putMarketplace(makeSource("one"), target)).toBe("copied");
    expect(putMarketplace(makeSource("one"), target)).toBe("same");
    expect(readPlugin(join(target, "claude-code"))).toEqual({ version: "1.2.3", wrong: [] });
    writeFileSync(join(target, "claude-code/bin/a.cjs"), "changed");
    expect(readPlugin(join(target, "claude-code"))).toEqual({ version: "1.2.3", wrong: ["bin/a.cjs"] });
    expect(putMarketplace(makeSource("one"), target)).toBe("copied");
    expect(putMarketplace(makeSource("two"), target)).toBe("copied");
    expect(readFileSync(join(target, "claude-code/bin/a.cjs"), "utf8")).toBe("two");
    expect(putMarketplace(target, target)).toBe("same");
    expect(readPlugin(join(target, "nowhere"))).toEqual({ version: null, wrong: ["bin/files.json"] });
  });

  test("E1 nothing is left beside it, also when it cannot be put there", () => {
    const folder = makeFolder();
    putMarketplace(makeSource("one"), join(folder, "plugins"));
    putMarketplace(makeSource("two"), join(folder, "plugins"));
    writeFileSync(join(folder, "file"), "");
    const before = hashTree(folder);
    expect(() => putMarketplace(makeSource("one"), join(folder, "file", "plugins"))).toThrow(/Cannot write/);
    expect(hashTree(folder)).toBe(before);
  });
});

describe("the client's version", () => {
  test.each([
    ["2.1.325", "ok"],
    ["2.2.0", "ok"],
    ["3.0.0-beta.1", "ok"],
    ["2.1.324", "note"],
    ["2.1.163", "note"],
    ["2.1.162", "broken"],
    ["1.0.128", "broken"],
    [null, "note"],
  ] as const)("E1 %s is %s", (version, state) => {
    expect(judgeVersion(version).state).toBe(state);
  });

  test("E1 versions are compared by their numbers", () => {
    expect(isOlder("2.1.99", "2.1.100")).toBe(true);
    expect(isOlder("20.19", "20.19.0")).toBe(false);
    expect(isOlder("20.9.0", "20.19")).toBe(true);
  });
});
