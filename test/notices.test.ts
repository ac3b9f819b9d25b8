/** Everything that is bundled into dist/ has its licence beside it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** What esbuild says above each part of a bundle: another source than the one that the notices are made of. */
function bundledIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.[cm]?js$/.test(path),
  );
  const texts = files.map((path) => readFileSync(join(folder, path), "utf8"));
  const found = texts.flatMap((text) => [
    ...text.matchAll(/^\s*\/\/ .*node_modules\/((?:@[^/]+\/)?[^/\n]+)/gm),
  ]);
  return [...new Set(found.map(([, name = ""]) => name))].sort();
}

describe.each(["dist", "dist/plugins/claude-code", "dist/pi"])("%s", (path) => {
  const folder = join(ROOT, path);
  const notices = readFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), "utf8");
  const packages = bundledIn(folder);

  test("has packages in it, so that this test can fail", () => {
    expect(packages).toContain("zod");
  });

  test.each(packages)("has the licence of %s, in the version that is bundled", (name) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8")) as {
      readonly version: string;
      readonly license: string;
    };
    const part = notices.split(/\n={80}\n/).find((each) => each.trim().startsWith(`${name} `));
    expect(part).toContain(`${name} ${manifest.version} (${manifest.license})`);
    expect(part).toMatch(/copyright/i);
  });
});
