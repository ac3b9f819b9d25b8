import { describe, expect, test } from "vitest";
import { changesAfter, type Files, useProtectedProject } from "./protected-project.ts";

useProtectedProject();

const CHECK = "sh check.sh";
const script = (text: string): Files => ({
  "check.sh": `${text}\nsh test/a.test.sh\n`,
  "test/a.test.sh": "",
});

describe("B7 a file that makes a check do less, or tells it what to do, counts although it is not there", () => {
  test.each<[script: string, planted: string]>([
    ["[ ! -f tests.skip ] || exit 0", "tests.skip"],
    ["[ -f tests.skip ] && exit 0", "tests.skip"],
    ["test -e 'my skip' && exit", "my skip"],
    ["if [ -s ./ci/skip ]; then\n  echo skipped\n  exit 0\nfi", "ci/skip"],
    ["if test ! -f skip; then sh run.sh; fi", "skip"],
    ["if ! [ -f skip ]; then\n  npm test\nfi", "skip"],
    ["[ -f .passed ] || node run.mjs", ".passed"],
    ["[[ -f .passed ]] || { echo running; ./run; }", ".passed"],
    ["[ ! -f quick ] || SKIP_SLOW=1", "quick"],
    ["[ -f quick ] && export TEST_FLAGS=--quick", "quick"],
    ["if [ -f a.sh ]; then :; elif [ -f skip ]; then exit 0; fi", "skip"],
    ["cd ci\n[ ! -f skip ] || exit 0\ncd ..", "ci/skip"],
    ["exit $(cat .cache/result)", ".cache/result"],
    ['eval "$(cat setup.txt)"', "setup.txt"],
    ["npx vitest run $(cat tests.txt)", "tests.txt"],
    ["for t in $(cat tests.txt); do sh $t; done", "tests.txt"],
    ["[ ! -f $PWD/skip ] || exit 0", "skip"],
    [". ./settings", "settings"],
  ])("%s", async (text, planted) => {
    const files = { ...script(text), "ci/a": "" };
    expect(await changesAfter(CHECK, files, { [planted]: "0\n" })).toEqual([`added ${planted}`]);
  });

  test("in the command itself, and as a folder", async () => {
    expect(await changesAfter("[ -e skip ] && exit 0; sh check.sh", script(""), { "skip/a": "" })).toEqual([
      "added skip",
    ]);
  });

  test("what is there counts with what is in it", async () => {
    const files = { ...script("exit $(cat result)"), result: "1\n" };
    expect(await changesAfter(CHECK, files, { result: "0\n" })).toEqual(["changed result"]);
  });
});

describe("B7 a file that a check wants to see is the work", () => {
  test.each<[script: string, made: string]>([
    ["test -f README.md", "README.md"],
    ["[ -f out.txt ] || exit 1", "out.txt"],
    ["[ -f out.txt ] || { echo missing; exit 1; }", "out.txt"],
    ["[ -f out.txt ] || { node explain.mjs; exit 1; }", "out.txt"],
    ["[ -f out.txt ] || die missing", "out.txt"],
    ["test -s out.txt && grep -q ok out.txt", "out.txt"],
    ["[ -f out.txt ] && wc -l out.txt", "out.txt"],
    ["if [ ! -f out.txt ]; then\n  echo missing\n  exit 1\nfi", "out.txt"],
    ["if [ -f out.txt ]; then ok=1; else exit 1; fi", "out.txt"],
    ["[ ! -f TODO ]", "TODO"],
    ['[ "$(cat VERSION)" = 2 ]', "VERSION"],
    ["v=$(cat VERSION); [ $v = 2 ]", "VERSION"],
    ["for line in $(cat out.txt); do [ $line -gt 0 ] || exit 1; done", "out.txt"],
    ["cat out.txt | grep ok", "out.txt"],
    ["[ -f dist/a.js ] || npm run build", "dist/a.js"],
    ["[ -f src/a.js ] && exit 0", "src/a.js"],
  ])("%s", async (text, made) => {
    expect(await changesAfter(CHECK, script(text), { [made]: "2\n" })).toEqual([]);
  });
});

describe("B7 what a check writes itself tells it nothing", () => {
  test.each([
    ["[ -f .cache/ok ] && exit 0\ntouch .cache/ok"],
    ["[ -f .cache/ok ] && exit 0\nsh test/a.test.sh >.cache/ok 2>&1"],
    ["rm -f .cache/ok\n[ -f .cache/ok ] && exit 0"],
  ])("by its own words: %s", async (text) => {
    expect(await changesAfter(CHECK, script(text), { ".cache/ok": "1" })).toEqual([]);
  });

  test("as its first run showed, and then with any content", async () => {
    const files = script("[ -f .cache/ok ] && exit 0\nnode run.mjs");
    const [first, later] = [{ ".cache/ok": "1" }, { ".cache/ok": "2" }];
    expect(await changesAfter(CHECK, files, later, first)).toEqual([]);
    expect(await changesAfter(CHECK, { ...files, ".cache/ok": null }, later)).toEqual(["added .cache/ok"]);
  });
});
