/** Hooks put into settings that belong to somebody else, and taken out again. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  foreignItems,
  hasHooks,
  putHooks,
  takeHooks,
} from "../../../src/hosts/stop-hook/install/hook-lists.ts";
import { isOwnItem, TARGETS } from "../../../src/hosts/stop-hook/install/targets.ts";
import { parseJsonc, toValue } from "../../../src/system/jsonc/tree.ts";

const isOurs = isOwnItem("codex");
const item = (event: string) => ({
  hooks: [{ type: "command", command: `'/x/loop-hook' codex ${event}`, timeout: 7200 }],
});
const FILE = { items: { Stop: item("stop"), UserPromptSubmit: item("prompt") }, isOurs, header: {} };
const read = (text: string) => toValue(parseJsonc(text)) as { readonly hooks?: Record<string, unknown[]> };

const THEIRS: readonly string[] = [
  '{"a":1}',
  '{ "a": 1 }\n',
  '{\n  "a": 1, // why\n  "hooks": {\n    "Stop": [\n      {"hooks":[{"command":"mine"}]} // keep\n    ]\n  }\n}\n',
  '{\r\n\t"hooks": {\r\n\t\t"Stop": [{"hooks":[]}],\r\n\t\t"PreToolUse": [1]\r\n\t}\r\n}\r\n',
  '// at the top\n{\n  /* all of it */\n  "theme": "dark, // not a comment",\n  "path": "C:\\\\x\\"y"\n}\n',
  '{"hooks":{"Notification":[{"command":"loop hook gemini stop"}]}}',
  '{\n    "deep": {\n        "er": []\n    }\n}',
];

describe("E5 D13 hooks in the settings of others", () => {
  test.each(THEIRS)("E5 what was there stays, byte for byte, after in and out: %j", (before) => {
    const after = putHooks(before, FILE);
    expect(hasHooks(after, isOurs)).toBe(true);
    expect(putHooks(after, FILE)).toBe(after);
    const { hooks = {} } = read(after);
    expect(hooks.Stop?.at(-1)).toEqual(FILE.items.Stop);
    expect(foreignItems(after, "Stop", isOurs)).toEqual(read(before).hooks?.Stop ?? []);
    expect(takeHooks(after, FILE)).toBe(before);
  });

  test("E5 any settings come back with the same meaning, and installing twice is installing once", () => {
    const hooks = fc.dictionary(
      fc.constantFrom("Stop", "Other", "hooks"),
      fc.array(fc.jsonValue(), { minLength: 1 }),
      { minKeys: 1 },
    );
    const settings = fc
      .dictionary(fc.string(), fc.jsonValue())
      .chain((rest) =>
        fc
          .option(hooks)
          .map((some) => (some === null ? { ...rest, hooks: undefined } : { ...rest, hooks: some })),
      );
    fc.assert(
      fc.property(settings, fc.constantFrom(undefined, 2, 4, "\t"), (value, indent) => {
        const before = JSON.stringify(value, null, indent);
        const after = putHooks(before, FILE);
        expect(putHooks(after, FILE)).toBe(after);
        const back = takeHooks(after, FILE);
        const isSame = isDeepStrictEqual(back === null ? {} : JSON.parse(back), JSON.parse(before));
        expect(isSame).toBe(true);
      }),
    );
  });

  test("E5 one of another version is replaced where it stands, one of an event that is not asked for any more goes", () => {
    const old = { hooks: [{ type: "command", command: "'/old/loop-hook' codex stop" }] };
    const before = JSON.stringify({
      hooks: { Stop: [{ a: 1 }, old, { b: 2 }], Gone: [old], Kept: [{ c: 3 }] },
    });
    expect(read(putHooks(before, FILE)).hooks).toEqual({
      Stop: [{ a: 1 }, FILE.items.Stop, { b: 2 }],
      Kept: [{ c: 3 }],
      UserPromptSubmit: [FILE.items.UserPromptSubmit],
    });
  });

  test("E5 somebody's own hook in the same group as ours stays", () => {
    const [ours] = item("stop").hooks;
    const mine = { type: "command", command: "mine" };
    const before = JSON.stringify({ hooks: { Stop: [{ matcher: "x", hooks: [mine, ours] }] } });
    const after = putHooks(before, { ...FILE, items: { Stop: item("stop") } });
    expect(after).toBe(before);
    expect(JSON.parse(takeHooks(after, FILE) ?? "")).toEqual({
      hooks: { Stop: [{ matcher: "x", hooks: [mine] }] },
    });
  });

  test("E5 a file that holds nothing but ours goes as a whole", () => {
    const { header } = TARGETS.cursor.hooks ?? { header: {} };
    const file = { ...FILE, header };
    const made = putHooks(null, file);
    expect(JSON.parse(made)).toMatchObject({ version: 1 });
    expect(takeHooks(made, file)).toBeNull();
    expect(takeHooks('{"version":1}', file)).toBe('{"version":1}');
  });

  test.each(["", "  \n"])("E5 an empty file is filled: %j", (before) => {
    expect(JSON.parse(putHooks(before, FILE))).toHaveProperty("hooks.Stop");
  });

  test.each([
    "{",
    "[]",
    '"x"',
    "{'a': 1}",
    '{"hooks": []}',
    '{"hooks": {"Stop": {}}}',
    '{"a":1} x',
    '{"a" 1}',
    "{,}",
  ])("E5 what is no such file is refused: %j", (before) => {
    expect(() => putHooks(before, FILE)).toThrow(SyntaxError);
  });
});
