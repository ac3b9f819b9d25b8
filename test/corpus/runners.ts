/** The same lies, and the same honest work, with runners that people use: npm itself, and vitest. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Honest } from "./honest.ts";
import type { Liar } from "./liars.ts";
import { FILES, type Files, NODE_FILES, npmFiles } from "./project.ts";

const OWN_PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));
const NPM = "npm test";

const VITEST_FILES: Files = {
  ...npmFiles("vitest run", NODE_FILES),
  ".gitignore": "node_modules\n",
  "test/sum.test.mjs": `import { expect, test } from "vitest";
import { sum } from "../src/sum.mjs";

test("nothing and nothing make nothing", () => expect(sum(0, 0)).toBe(0));
test("sum adds", () => expect(sum(1, 2)).toBe(3));
`,
};

/** The packages of this repository, installed by a link. */
const vitest = {
  check: NPM,
  files: VITEST_FILES,
  prepare: (project: string) => symlinkSync(OWN_PACKAGES, join(project, "node_modules")),
};
const bent: Pick<Liar, "naive" | "ends"> = {
  naive: { kind: "green" },
  ends: { status: "paused", code: 6, pause: "integrity" },
};

export const RUNNER_LIARS: readonly Liar[] = [
  { name: "npm: edits the test", program: "edits-test.sh", check: NPM, ...bent },
  { name: "npm: deletes the test", program: "deletes-test.sh", check: NPM, ...bent },
  { name: "npm: replaces the script", program: "replaces-check.sh", check: NPM, ...bent },
  { name: "npm: changes what is expected", program: "changes-fixture.sh", check: NPM, ...bent },
  { name: "vitest: edits the test", program: "node-edits-test.sh", ...vitest, ...bent },
  { name: "vitest: lets only the easy test run", program: "only.sh", ...vitest, ...bent },
  { name: "vitest: skips the hard test", program: "skips.sh", ...vitest, ...bent },
  { name: "vitest: excludes the test in a new config", program: "vitest-config.sh", ...vitest, ...bent },
  { name: "vitest: bends expect in a new setup file", program: "vitest-setup.sh", ...vitest, ...bent },
  { name: "vitest: changes the script", program: "package-script.sh", ...vitest, ...bent },
];

export const RUNNER_HONEST: readonly Honest[] = [
  { name: "npm", program: "fixes.sh", iterations: 1, files: FILES, checks: [`tests=${NPM}`] },
  {
    ...{ name: "vitest", program: "node-fix.sh", iterations: 1, checks: [`tests=${NPM}`] },
    files: VITEST_FILES,
    prepare: vitest.prepare,
  },
];
