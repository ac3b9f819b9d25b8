/** A file that came with a repository cannot turn the mask off. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isMaskOff } from "../../../src/store/files/mask-setting.ts";
import { createTrustStore } from "../../../src/store/folder/trust.ts";

function project(content: string) {
  const base = mkdtempSync(join(tmpdir(), "mask setting "));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "project");
  mkdirSync(join(root, ".loop"), { recursive: true });
  const path = join(root, ".loop", "config.json");
  writeFileSync(path, content);
  return { root, path, content, env: { HOME: join(base, "home") } };
}

test("J7 H2 mask: false counts only after a person trusted exactly this content", () => {
  const { root, path, content, env } = project('{"mask":false}');
  expect(isMaskOff(root, env)).toBe(false);
  createTrustStore(env).trust({ path, content }, 0);
  expect(isMaskOff(root, env)).toBe(true);
  writeFileSync(path, `${content}\n`);
  expect(isMaskOff(root, env)).toBe(false);
});

test.each(["", "{", "{}", '{"mask":true}', '{"mask":"no"}'])("J7 with %j secrets are masked", (content) => {
  const { root, path, env } = project(content);
  createTrustStore(env).trust({ path, content }, 0);
  expect(isMaskOff(root, env)).toBe(false);
});
