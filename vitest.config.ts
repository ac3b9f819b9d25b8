import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/**
 * Tests by how long they take. `npm test` runs the project `quick`; the others have a script each in package.json,
 * and `.ci/run` calls all of them. A file belongs to a group by its name: `<subject>.<group>.test.ts`.
 */
const GROUPS = ["corpus", "kill", "soak", "figures"] as const;

/** Tests with a real client of somebody else's, which `scripts/install-client.mjs` installs. */
const REAL = ["test/real/**/*.test.ts", "test/**/*.real.test.ts"];

/** Files that replace modules, measure memory or need a small heap: each needs a process of its own. */
const MOCKING = [
  "test/cli/live/screen-view.test.ts",
  "test/engine/time/year.test.ts",
  "test/core/text/width.test.ts",
  "test/cli/setup/doctor.test.ts",
  "test/store/signed/origin-race.test.ts",
  "test/store/folder/write-lock.test.ts",
];

/** Real clients mostly wait. */
const MANY = availableParallelism() * 2;

const namesOf = (group: string) => `test/**/*.${group}.test.ts`;
const project = (name: string, test: object) => ({ extends: true as const, test: { name, ...test } });

export default defineConfig({
  test: {
    globalSetup: ["test/support/build-once.ts"],
    testTimeout: 90_000,
    hookTimeout: 120_000,
    pool: "forks",
    // more than there are cores: a third of the time goes into waiting for processes
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    projects: [
      project("quick", {
        include: ["test/**/*.test.ts"],
        exclude: [...REAL, ...GROUPS.map(namesOf), ...MOCKING],
        // a process for each file would cost 0.3 s of CPU
        isolate: false,
      }),
      project("mocking", { include: MOCKING }),
      // a real client, driven through a terminal: one slow start of it is not our failure
      project("real", { include: REAL, retry: 1, maxWorkers: MANY }),
      ...GROUPS.map((group) => project(group, { include: [namesOf(group)] })),
    ],
  },
});
