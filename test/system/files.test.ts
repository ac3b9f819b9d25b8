/** The one door to files: what is appended to, and what is opened (H4, J4). `project-files.soak.test.ts` has every file. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  constants,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { appendTo, openOwn, readAnyones, readIfThere, readThroughLinks } from "../../src/system/files.ts";
import { makeInside } from "../../src/system/inside.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "loopwright-door-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);

describe("J4 a log", () => {
  test("is made for this user alone, and grows", () => {
    appendTo(at("log"), "one\n");
    appendTo(at("log"), "two\n");
    expect(readFileSync(at("log"), "utf8")).toBe("one\ntwo\n");
    expect(statSync(at("log")).mode & 0o777).toBe(0o600);
  });

  test("that others could write is ours alone from then on", () => {
    writeFileSync(at("log"), "");
    chmodSync(at("log"), 0o666);
    appendTo(at("log"), "one\n");
    expect(statSync(at("log")).mode & 0o777).toBe(0o644);
  });

  test("with a second name is not written, because the other name may be outside", () => {
    writeFileSync(at("other"), "other\n");
    linkSync(at("other"), at("log"));
    expect(() => appendTo(at("log"), "one\n")).toThrow(/log is a hard link: the file has a second name\.$/);
    expect(readFileSync(at("other"), "utf8")).toBe("other\n");
  });
});

describe("J4 a file", () => {
  test("outside the project may be a link, but never something that waits", () => {
    writeFileSync(at("file"), "text");
    symlinkSync(at("file"), at("link"));
    execFileSync("mkfifo", [at("pipe")]);
    symlinkSync(at("pipe"), at("to-pipe"));
    expect(readThroughLinks(at("link"))).toBe("text");
    expect(readThroughLinks(at("missing"))).toBeNull();
    expect(() => readThroughLinks(at("to-pipe"))).toThrow(/is not a plain file/);
    expect([readAnyones(at("file")), readAnyones(at("link")), readAnyones(at("pipe"))]).toEqual([
      "text",
      null,
      null,
    ]);
    expect(readAnyones(at("file"), 3)).toBeNull();
  });

  test("that is a pipe with a reader is not written either", () => {
    execFileSync("mkfifo", [at("pipe")]);
    const reader = openOwn.bind(null, at("pipe"), constants.O_RDWR);
    expect(reader).toThrow(/is not a plain file/);
  });

  test.skipIf(process.getuid?.() !== 0)("of another user is one sentence with what to type", () => {
    writeFileSync(at("it's"), "text");
    chownSync(at("it's"), 65_534, 65_534);
    expect(() => readIfThere(at("it's"))).toThrow(
      expect.objectContaining({
        message: `${at("it's")} belongs to another user.`,
        hint: `Remove it, or make it yours: sudo chown -R "$(id -un)" '${folder}/it'\\''s'`,
      }),
    );
    expect(readAnyones(at("it's"))).toBe("text");
  });
});

describe("J4 a folder", () => {
  test("is made level by level, and nothing is made behind a link", () => {
    symlinkSync(tmpdir(), at("out"));
    expect(() => makeInside(folder, at("out/loopwright-made"))).toThrow(
      /out is a link that leads out of the project/,
    );
    expect(makeInside(folder, at("a/b/c"))).toBe(at("a/b/c"));
    expect(statSync(at("a")).mode & 0o777).toBe(0o700);
    symlinkSync("a", at("in"));
    expect(statSync(makeInside(folder, at("in/d"))).isDirectory()).toBe(true);
    writeFileSync(at("file"), "");
    expect(() => makeInside(folder, at("file/d"))).toThrow(/file is a file; loopwright needs a folder/);
  });
});
