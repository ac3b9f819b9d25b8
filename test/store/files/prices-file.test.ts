import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { priceOf } from "../../../src/core/cost/prices.ts";
import { SHIPPED_PRICES } from "../../../src/schema/prices.ts";
import { ownPricesFile, readPrices } from "../../../src/store/files/prices-file.ts";

let root: string;
let env: NodeJS.ProcessEnv;
let project: { dir: string };

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "loopwright-"));
  env = { HOME: join(root, "home") };
  project = { dir: join(root, ".loop") };
  mkdirSync(project.dir);
});
afterEach(() => rmSync(root, { recursive: true }));

const tableOf = (model: string, input: number) =>
  JSON.stringify({ date: "2026-11-15", models: { [model]: { input, output: 0 } } });

function putOwn(text: string): string {
  const path = ownPricesFile(env);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const costOf = (model: string) =>
  priceOf({ costUsd: null, inputTokens: 1_000_000, outputTokens: 0 }, model, readPrices(project, env));

describe("the price tables of a project", () => {
  test("E3 without files, the shipped one", () => {
    expect(readPrices(project, env)).toEqual({ own: null, project: null, shipped: SHIPPED_PRICES });
    expect(readPrices(null, env)).toEqual({ own: null, project: null, shipped: SHIPPED_PRICES });
  });

  test("E3 the person's own is where the settings of programs are", () => {
    expect(ownPricesFile({ HOME: "/home/me" })).toBe("/home/me/.config/loopwright/prices.json");
    expect(ownPricesFile({ HOME: "/home/me", XDG_CONFIG_HOME: "/etc/me" })).toBe(
      "/etc/me/loopwright/prices.json",
    );
    expect(ownPricesFile({ HOME: "/home/me", XDG_CONFIG_HOME: "relative" })).toBe(
      "/home/me/.config/loopwright/prices.json",
    );
  });

  test("E3 the person's own and the project's are put together model by model", () => {
    putOwn(tableOf("gpt-5.5", 1));
    writeFileSync(join(project.dir, "prices.json"), tableOf("house-*", 3));
    expect(costOf("openai/gpt-5.5")).toMatchObject({
      costUsd: 1,
      from: { table: "own", date: "2026-11-15" },
    });
    expect(costOf("house-7b")).toMatchObject({ costUsd: 3, from: { table: "project" } });
    expect(costOf("gpt-5.4")).toMatchObject({ costUsd: 2.5, from: { table: "shipped" } });
  });

  test("E3 the person's own may be a link, a project's may not", () => {
    const elsewhere = join(root, "dotfiles.json");
    writeFileSync(elsewhere, tableOf("gpt-5.5", 1));
    mkdirSync(join(ownPricesFile(env), ".."), { recursive: true });
    symlinkSync(elsewhere, ownPricesFile(env));
    expect(costOf("gpt-5.5")).toMatchObject({ costUsd: 1 });
    symlinkSync(elsewhere, join(project.dir, "prices.json"));
    expect(() => readPrices(project, env)).toThrow(/prices\.json/);
  });

  test.each([
    ["{", /prices\.json is not JSON: /],
    ['{"date":"2026-11-15","models":{"m":{"input":1}}}', /prices\.json: models\.m\.output: /],
    ['{"date":"2026-11-15","models":{"m":{"input":"$1","output":1}}}', /prices\.json: models\.m\.input: /],
  ])("E3 H5 %s is said with its place, whose ever it is", (text, message) => {
    const path = putOwn(text);
    expect(() => readPrices(project, env)).toThrow(message);
    rmSync(path);
    writeFileSync(join(project.dir, "prices.json"), text);
    expect(() => readPrices(project, env)).toThrow(message);
  });
});
