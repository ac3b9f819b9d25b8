/** The JSON Schemas in `schemas/` are those of the code, and every published file names its own. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as names from "../../src/core/views/schema-names.ts";
import { renderSchemas } from "../../src/schema/published.ts";

const folder = join(import.meta.dirname, "..", "..", "schemas");

test("F9 schemas/ is what the code says; `npm run schemas` writes it anew", () => {
  const written = new Map(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
  expect(Object.fromEntries(written)).toEqual(Object.fromEntries(renderSchemas()));
});

test.each(Object.values(names))("F9 %s is there, under that id", (name) => {
  const text = renderSchemas().get(name.replace("loopwright/schemas/", "")) ?? "{}";
  expect(JSON.parse(text)).toMatchObject({ $id: name });
});
