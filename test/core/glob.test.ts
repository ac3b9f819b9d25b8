import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileGlob, compileGlobs, matchesGlob } from "../../src/core/glob.ts";
import { cpuMs } from "../support/cpu-time.ts";

describe("B7 a glob", () => {
  test.each<[glob: string, path: string]>([
    ["a.ts", "a.ts"],
    ["a.ts", "deep/er/a.ts"],
    ["*.sql", "db/schema.sql"],
    ["*.sql", ".sql"],
    ["/a.ts", "a.ts"],
    ["./a.ts", "a.ts"],
    ["src/*.ts", "src/a.ts"],
    ["src/**", "src/a/b.ts"],
    ["src/**/*.ts", "src/a.ts"],
    ["src/**/*.ts", "src/a/b/c.ts"],
    ["**/test/**", "test/a"],
    ["**/test/**", "x/test/a/b"],
    ["**", "a/b/c"],
    ["**/*.snap", "a.snap"],
    ["golden", "golden/a/b.json"],
    ["test/golden", "test/golden/a.json"],
    ["test/golden/", "test/golden/a/b.json"],
    ["golden/", "deep/golden/a"],
    ["{a,b}.ts", "b.ts"],
    ["{src,test}/**", "test/x/y"],
    ["a{,b{c,d}}e", "abde"],
    ["a{,b{c,d}}e", "ae"],
    ["file?.txt", "file1.txt"],
    ["file?.txt", "file🦊.txt"],
    ["[a-c].ts", "b.ts"],
    ["[!a-c].ts", "d.ts"],
    ["[^a-c].ts", "d.ts"],
    ["[]a].ts", "].ts"],
    ["[a\\]].ts", "].ts"],
    ["[a-]", "-"],
    ["\\*.ts", "*.ts"],
    ["a[b", "a[b"],
    ["a{b", "a{b"],
    ["a}b,c", "a}b,c"],
    ["a**b", "axxb"],
    ['with space/*\'s "file"', 'with space/it\'s "file"'],
    ["*", "line\nbreak"],
    ["package.json#scripts.*", "package.json#scripts.test"],
    ["", ""],
  ])("%j matches %j", (glob, path) => {
    expect(matchesGlob(path, glob)).toBe(true);
  });

  test.each<[glob: string, path: string]>([
    ["/a.ts", "deep/a.ts"],
    ["./a.ts", "deep/a.ts"],
    ["src/*.ts", "src/a/b.ts"],
    ["src/*", "src/a/b"],
    ["src/*.ts", "lib/src/a.ts"],
    ["src/**", "src"],
    ["src/**", "srcs/a"],
    ["src/**/a.ts", "src/xa.ts"],
    ["test/golden", "a/test/golden/x"],
    ["golden", "goldens/a"],
    ["golden/", "golden"],
    ["{a,b}.ts", "c.ts"],
    ["file?.txt", "file/.txt"],
    ["file?.txt", "file.txt"],
    ["[a-c].ts", "d.ts"],
    ["[!a]b", "/b"],
    ["a**b", "a/b"],
    ["\\*.ts", "a.ts"],
    ["A.ts", "a.ts"],
    ["*.t", "a.ts"],
    ["", "a"],
  ])("%j does not match %j", (glob, path) => {
    expect(matchesGlob(path, glob)).toBe(false);
  });

  test("one of several is enough, and none matches nothing", () => {
    expect(compileGlobs(["*.md", "src/**"])("src/a.ts")).toBe(true);
    expect(compileGlobs(["*.md", "src/**"])("lib/a.ts")).toBe(false);
    expect(compileGlobs([])("a")).toBe(false);
  });

  test("a path, with what is special taken as it is, matches itself", () => {
    const name = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/[/\0]/.test(text));
    const names = fc.array(
      name.filter((text) => text !== "." && text !== ".."),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(names, (parts) => {
        const path = parts.join("/");
        expect(matchesGlob(path, `/${path.replaceAll(/[\\*?[\]{},!^-]/g, "\\$&")}`)).toBe(true);
      }),
    );
  });

  test("any text is a glob, and `**` is over all of them", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab/*?[]{},!\\-") }), fc.string(), (glob, path) => {
        expect(typeof matchesGlob(path, glob)).toBe("boolean");
        expect(matchesGlob(path, "**")).toBe(true);
      }),
    );
  });

  test.each([
    "*a".repeat(200),
    "**/".repeat(200),
    "{a,*}".repeat(200),
    `${"{a,".repeat(200)}b${"}".repeat(200)}`,
  ])("takes no longer for one that other matchers choke on", (glob) => {
    const matches = compileGlob(`/${glob}c`);
    const path = "a/".repeat(500);
    expect(cpuMs(() => expect(matches(path)).toBe(false))).toBeLessThan(2_000);
  });
});
