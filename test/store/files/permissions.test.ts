/** Rules that came with a repository make it stricter, and wider only when a person said so. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { permissionsOf } from "../../../src/store/files/permissions.ts";
import { createTrustStore } from "../../../src/store/folder/trust.ts";

const RULES = { execute: { "npm run *": "allow", "git push*": "deny" }, fetch: "allow", edit: "ask" };

function project(config: object | string) {
  const base = mkdtempSync(join(tmpdir(), "permissions "));
  const root = join(base, "project");
  mkdirSync(join(root, ".loop"), { recursive: true });
  const path = join(root, ".loop", "config.json");
  const content = typeof config === "string" ? config : JSON.stringify(config);
  writeFileSync(path, content);
  return { root, path, content, env: { HOME: join(base, "home") } };
}

test("E3 H2 what a file allows is asked until this very content was trusted", () => {
  const { root, path, content, env } = project({ permissions: RULES });
  expect(permissionsOf(root, env)).toEqual({
    execute: { "npm run *": "ask", "git push*": "deny" },
    fetch: "ask",
    edit: "ask",
  });
  createTrustStore(env).trust({ path, content }, 0);
  expect(permissionsOf(root, env)).toEqual(RULES);
  writeFileSync(path, `${content}\n`);
  expect(permissionsOf(root, env)).toMatchObject({ fetch: "ask" });
});

test.each(["", "{", "[]", '{"permissions":{"fly":"allow"}}'])("E3 H5 %j gives no rule", (content) => {
  const { root, env } = project(content);
  expect(permissionsOf(root, env)).toEqual({});
});
