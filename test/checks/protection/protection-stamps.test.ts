import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProtection } from "../../../src/checks/protection/protection.ts";
import { rewrittenFiles } from "../../../src/core/checks/changed-files.ts";
import type { Stamps } from "../../../src/ports/checks.ts";
import { type Files, here, LOOP, rulesFor, useProtectedProject, write } from "./protected-project.ts";

useProtectedProject();

const FILES: Files = {
  "package.json": { scripts: { test: "vitest run" } },
  "src/a.ts": "",
  "test/a.test.ts": 'import same from "same";',
  "test/expected.json": "3\n",
  "test/link.json": "-> expected.json",
  "node_modules/same/package.json": { name: "same", main: "index.js" },
  "node_modules/same/index.js": "",
  "node_modules/.bin/vitest": "#!/bin/sh\n",
};

/** What was written to between two looks, with nothing else to be seen. */
async function writtenIn(work: () => void, survey: () => void = () => {}): Promise<string[]> {
  write(FILES);
  const rules = rulesFor(["npm test"], { allowChanges: ["test/free.json"] });
  const protection = createProtection(here.dir);
  const before = await protection.stamps(rules);
  survey();
  const { digest } = await protection.record(LOOP, rules, before);
  const look = async (): Promise<Stamps> => {
    const state = await protection.compare(LOOP, digest, rules);
    expect(state).toMatchObject({ kind: "known", changes: [] });
    return state.kind === "known" ? state.stamps : expect.unreachable();
  };
  const first = await look();
  expect(rewrittenFiles(first, await look())).toEqual([]);
  work();
  return rewrittenFiles(first, await look());
}

/** Bends it, and puts it back. */
function bend(path: string): void {
  const place = join(here.dir, path);
  const text = readFileSync(place);
  writeFileSync(place, "bent");
  writeFileSync(place, text);
}

describe("B7 a part of a check that was bent and put back has another stamp", () => {
  test("when it is written to in its place", async () => {
    expect(await writtenIn(() => bend("test/expected.json"))).toEqual(["test/expected.json"]);
  });

  test("when another file was in its place for a while", async () => {
    const swap = (): void => {
      const place = join(here.dir, "test/expected.json");
      renameSync(place, `${place}.old`);
      writeFileSync(place, "bent");
      renameSync(`${place}.old`, place);
    };
    expect(await writtenIn(swap)).toEqual(["test/expected.json"]);
  });

  test("when it is a link", async () => {
    expect(await writtenIn(() => write({ "test/link.json": FILES["test/link.json"] ?? "" }))).toEqual([
      "test/link.json",
    ]);
  });

  test("but not the product, a value of package.json, or what package managers write", async () => {
    const others = ["src/a.ts", "package.json", "node_modules/same/index.js", "node_modules/.bin/vitest"];
    expect(await writtenIn(() => others.forEach(bend))).toEqual([]);
  });

  test("unless the checks wrote to it themselves before any work", async () => {
    const both = (): void => ["test/expected.json", "test/a.test.ts"].forEach(bend);
    expect(await writtenIn(both, () => bend("test/expected.json"))).toEqual(["test/a.test.ts"]);
  });
});
