import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build-once.ts"],
    testTimeout: 90_000,
    hookTimeout: 120_000,
    pool: "forks",
    // vitest leaves a core free, which on two cores is half of them
    maxWorkers: availableParallelism(),
  },
});
