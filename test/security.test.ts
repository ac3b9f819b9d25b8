/** J8: SECURITY.md names tests and files that exist. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const DOC = readFileSync(join(ROOT, "SECURITY.md"), "utf8");
/** A file, then the titles of some of its tests. */
const SHOWN = /`(test\/[^`]+\.test\.ts)`((?:,? "[^"]+")+)/g;

test("J8 every test that SECURITY.md names has that title", () => {
  const named = [...DOC.matchAll(SHOWN)].flatMap(([, file = "", titles = ""]) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => ({ file, title })),
  );
  expect(named.length).toBeGreaterThan(50);
  const isThere = ({ file, title }: { file: string; title: string }) =>
    readFileSync(join(ROOT, file), "utf8").includes(title);
  expect(named.filter((each) => !isThere(each))).toEqual([]);
});

test("J8 every file that SECURITY.md names exists", () => {
  const files = [...DOC.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, file = ""]) => file);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test("J8 every attacker has a table and says what does not hold", () => {
  const [, ...attackers] = DOC.slice(DOC.indexOf("## A repository")).split(/^## /m);
  expect(attackers.map((text) => text.split("\n")[0])).toEqual([
    "A repository",
    "A pull request",
    "An agent that is wrong",
    "An agent that is hostile",
    "Another local user",
    "A web page",
    "A stolen backup",
  ]);
  for (const text of attackers) expect(text).toMatch(/^\|.*\| shown by \|$[\s\S]*^Does not hold:\n\n- /m);
});
