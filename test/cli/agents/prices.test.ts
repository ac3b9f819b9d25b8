import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pricesCommand } from "../../../src/cli/agents/prices.ts";
import { createIo } from "../../../src/cli/io.ts";
import { SHIPPED_PRICES } from "../../../src/schema/prices.ts";

let root: string;
const out: string[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "loopwright-"));
  mkdirSync(join(root, ".git"));
  mkdirSync(join(root, ".loop"));
  vi.stubEnv("XDG_CONFIG_HOME", join(root, "config"));
  out.length = 0;
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

async function prices(model?: string, json = false): Promise<string> {
  const io = createIo({});
  const restore = io.divert({ out: (text) => out.push(text), say: () => {} });
  try {
    expect(await pricesCommand(model, { project: root, json }, io)).toBe(0);
  } finally {
    restore();
  }
  return out.join("\n");
}

function put(folder: string, models: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "prices.json"), JSON.stringify({ date: "2026-11-15", models }));
}

describe("loop prices", () => {
  test("F1 E3 lists every model of every table", async () => {
    put(join(root, "config", "loopwright"), { mine: { input: 1, output: 2 } });
    put(join(root, ".loop"), { "house-*": { input: 0.5, output: 2 } });
    const shown = await prices();
    for (const name of [...Object.keys(SHIPPED_PRICES.models), "mine", "house-*"])
      expect(shown).toContain(name);
    expect(shown).toMatch(/^mine +\$1\.00 +\$2\.00 +\$1\.00 +\$1\.00 +own, 2026-11-15$/m);
    expect(shown).toMatch(/^house-\* +\$0\.5 +\$2\.00 .*project, 2026-11-15$/m);
  });

  test("F1 E3 says what is found for a name, as data too", async () => {
    put(join(root, ".loop"), { "gpt-5.5": { input: 9, output: 9 } });
    const told = JSON.parse(await prices("openai/gpt-5.5-2026-04-24", true)) as object;
    expect(told).toEqual({
      model: "openai/gpt-5.5-2026-04-24",
      prices: [
        {
          name: "gpt-5.5",
          table: "shipped",
          date: SHIPPED_PRICES.date,
          input: 5,
          output: 30,
          cacheRead: 0.5,
          cacheWrite: 5,
        },
        {
          name: "gpt-5.5",
          table: "project",
          date: "2026-11-15",
          input: 9,
          output: 9,
          cacheRead: 9,
          cacheWrite: 9,
        },
      ],
    });
  });

  test("F1 E3 a model that nobody knows is one sentence with the file to write", async () => {
    await expect(prices("unheard-of")).rejects.toMatchObject({
      message: 'No price is known for "unheard-of", so the cost of its turns is unknown.',
      hint: expect.stringContaining(join(root, "config", "loopwright", "prices.json")),
    });
  });
});
