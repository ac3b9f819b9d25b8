import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMask, filledLabel, maskAll, maskTail } from "../../../src/core/secrets/mask.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { runs } from "../../support/runs.ts";
import { ENV_SECRETS, KNOWN, surroundings } from "../../support/secrets.ts";

const forms = createMask([]);

describe("J7 a masked text", () => {
  test.each(KNOWN)("has no $name", ({ name, text, secret }) => {
    const masked = forms.text(`before ${text} after`);
    expect(masked).not.toContain(secret);
    expect(masked).toContain(`[masked: ${name}]`);
    expect(masked).toMatch(/^before .* after$/s);
    // inside of JSON, and in the middle of a line of settings
    expect(forms.text(JSON.stringify({ a: [text] }))).not.toContain(JSON.stringify(secret).slice(1, -1));
    expect(forms.text(`X=${text}\n`)).not.toContain(secret);
  });

  test("names the variable of a value", () => {
    const mask = createMask([{ name: "DEPLOY_TOKEN", value: "q8Zr41xW" }]);
    expect(mask.text("curl -H 'Authorization: Bearer q8Zr41xW' x")).toBe(
      "curl -H 'Authorization: Bearer [masked: DEPLOY_TOKEN]' x",
    );
    expect(mask.text("https://u:q8Zr41xW@h/")).toBe("https://u:[masked: DEPLOY_TOKEN]@h/");
  });

  test("has no value that is escaped for JSON, for an address or as bytes", () => {
    const value = 'a"b\\c/ü?d9';
    const mask = createMask([{ name: "T", value }]);
    const bytes = Buffer.from(value).toString("latin1");
    for (const text of [value, JSON.stringify({ value }), `?k=${encodeURIComponent(value)}`, bytes])
      expect(mask.text(text)).toContain("[masked: T]");
  });

  test("no value survives, in any text", () => {
    fc.assert(
      fc.property(ENV_SECRETS, fc.array(surroundings, { maxLength: 6 }), (secrets, parts) => {
        const mask = createMask(secrets);
        const text = parts
          .map((part, index) => part + (secrets[index % secrets.length]?.value ?? ""))
          .join("");
        const masked = mask.text(text);
        for (const { value } of secrets) expect(masked).not.toContain(value);
        for (const { value } of secrets) expect(mask.text(masked)).not.toContain(value);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test("the tail of an output shows no part of a secret that begins before it", () => {
    const secret = "q8Zr41xWq8Zr41xW";
    const mask = createMask([{ name: "T", value: secret }]);
    for (let length = 0; length <= 40; length++) {
      const tail = maskTail(mask, `before ${secret} after`, length);
      expect("before [masked: T] after".endsWith(tail)).toBe(true);
    }
  });

  test("a value in an object or as its key is masked", () => {
    const mask = createMask([{ name: "T", value: "q8Zr41xW" }]);
    const value = { a: ["q8Zr41xW", 1, null], "b q8Zr41xW": { c: "x q8Zr41xW" } };
    expect(JSON.stringify(maskAll(mask, value))).toBe(
      '{"a":["[masked: T]",1,null],"b [masked: T]":{"c":"x [masked: T]"}}',
    );
  });

  test("a label can be as long as the secret", () => {
    for (let length = 1; length < 60; length++)
      expect(filledLabel("GITHUB_TOKEN", length)).toHaveLength(length);
    expect(filledLabel("GITHUB_TOKEN", 24)).toBe("[masked: GITHUB_TOKEN**]");
    expect(filledLabel("GITHUB_TOKEN", 10)).toBe("[masked**]");
  });

  test("takes time in proportion to any text", () => {
    const mask = createMask([{ name: "T", value: "aaaaaaab1" }]);
    const hard = [
      "a",
      "eyJaaaaaaaaa.",
      "sk-ant-",
      "://a:",
      "authorization: ",
      "Bearer ",
      "glpat-x.",
      "-----BEGIN ",
    ];
    for (const piece of [
      ...hard,
      `-----BEGIN PRIVATE KEY-----${"\n".repeat(50)}`,
      `-----BEGIN PRIVATE KEY-----\n${"A".repeat(64)}\n`,
    ]) {
      const text = piece.repeat(Math.ceil(400_000 / piece.length));
      expect(cpuMs(() => mask.find(text))).toBeLessThan(1_000);
    }
  });
});

describe("J7 ordinary output is not masked", () => {
  const folder = join(import.meta.dirname, "../../fixtures/test-output");
  test.each(readdirSync(folder))("%s", (name) => {
    const text = readFileSync(join(folder, name), "utf8");
    expect(forms.find(text)).toEqual([]);
  });

  test("the texts of this repository", () => {
    const root = join(import.meta.dirname, "../../..");
    const files = ["src", "docs", "templates", "schemas", "test/fixtures", "test/journals"].flatMap((part) =>
      readdirSync(join(root, part), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    const found = files.flatMap((path) => {
      const text = readFileSync(path, "utf8");
      return forms
        .find(text)
        .map(({ start, end }) => `${path.slice(root.length)}: ${text.slice(start, end)}`);
    });
    expect(files.length).toBeGreaterThan(500);
    expect(found).toEqual([]);
  });

  test.each([
    "Authorization: required for this page",
    "authorization = enabled",
    "Authorization: Bearer <token>",
    "Authorization: Basic authentication",
    "The bearer authentication-scheme-is-described-in-the-specification",
    "postgres://user:<password>@host/db and https://$USER:$PASS@host",
    "http://localhost:5173/@vite/client and ssh://git@host:22/a.git",
    "https://host:8080?next=a@b",
    "npm_package_name npm_lifecycle_event npm_config_registry",
    "sk-learn, sk-SK, task-ant-colony-optimization-with-many-words",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUabcdefghijklmnop\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBszCCAVmgAwIBAgIUabcdefghijklmnop\n-----END PUBLIC KEY-----",
    "at Object.<anonymous> (file:///home/jane/a/node_modules/.pnpm/x@1.0.0_y@2.0.0/index.js:12:34)",
  ])("%s", (text) => {
    expect(forms.text(text)).toBe(text);
  });
});
