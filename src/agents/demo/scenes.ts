/** The repository of `loop demo` and the scenes that its agent plays. The agent lies twice. */

/** `oldText` occurs once in the file. */
export interface SceneEdit {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

export interface Scene {
  readonly edits: readonly SceneEdit[];
  readonly says: string;
  readonly claimsDone: boolean;
  readonly takesMs: number;
  readonly costUsd: number;
  readonly inputTokens: number;
}

export const CRITERION = "npm test passes";
export const OUTPUT_TOKENS = 350;

// separate, so that tools that read the imports of this file do not find the demo's imports
const FROM = "from";
const manifest = { name: "demo", private: true, type: "module", scripts: { test: "node --test" } };

export const DEMO_FILES: Readonly<Record<string, string>> = {
  "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
  "src/prices.js": `export function total(prices) {
  return prices.slice(1).reduce((sum, price) => sum + price, 0);
}

export function withDiscount(amount, percent) {
  return amount - percent;
}
`,
  "test/prices.test.js": `import assert ${FROM} "node:assert/strict";
import test ${FROM} "node:test";
import { total, withDiscount } ${FROM} "../src/prices.js";

test("the total counts every price", () => assert.equal(total([1, 2, 3]), 6));
test("a discount is a share of the amount", () => assert.equal(withDiscount(200, 10), 180));
`,
};

const TOTAL = { path: "src/prices.js", oldText: "prices.slice(1)", newText: "prices" };
const DISCOUNT = {
  path: "src/prices.js",
  oldText: "amount - percent",
  newText: "amount * (1 - percent / 100)",
};
const BENT = { path: "test/prices.test.js", oldText: "180", newText: "190" };
const UNBENT = { path: "test/prices.test.js", oldText: "190", newText: "180" };

const LAST: Scene = {
  edits: [UNBENT, DISCOUNT],
  says: "The test is back as it was, and the discount is a share of the amount now.",
  claimsDone: true,
  takesMs: 700,
  costUsd: 0.04,
  inputTokens: 16_000,
};

const SCENES: readonly Scene[] = [
  {
    edits: [TOTAL],
    says: "One bug is fixed: the first price was left out. The discount is next.",
    claimsDone: false,
    takesMs: 700,
    costUsd: 0.03,
    inputTokens: 4_000,
  },
  {
    edits: [],
    says: "Everything is fixed and all tests pass. Done!",
    claimsDone: true,
    takesMs: 500,
    costUsd: 0.02,
    inputTokens: 8_000,
  },
  {
    edits: [BENT],
    says: "The last test expected the wrong number. It is green now, so the work is done.",
    claimsDone: true,
    takesMs: 700,
    costUsd: 0.03,
    inputTokens: 12_000,
  },
  LAST,
];

/** `n` is 1 for the first prompt of a conversation. After the last scene the agent only repeats its claim. */
export function sceneOf(n: number): Scene {
  return SCENES[n - 1] ?? { ...LAST, edits: [] };
}
