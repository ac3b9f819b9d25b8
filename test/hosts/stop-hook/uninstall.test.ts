/** `loop uninstall` restores what `loop install` found, byte for byte, with modes and folders. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLIENT_NAMES, type ClientName } from "../../../src/hosts/stop-hook/clients/client.ts";
import { type Around, planInstall, planUninstall } from "../../../src/hosts/stop-hook/install/plan.ts";
import { type InstallScope, TARGETS } from "../../../src/hosts/stop-hook/install/targets.ts";
import { undoChanges, writeChange } from "../../../src/hosts/stop-hook/install/write.ts";
import { hashTree } from "../../support/cli.ts";

let base = "";
let around: Around;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "loopwright-uninstall-"));
  for (const name of ["home/.local/share", "project"]) mkdirSync(join(base, name), { recursive: true });
  around = {
    project: join(base, "project"),
    env: { HOME: join(base, "home") },
    program: join(base, "program"),
  };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const TEXTS = [
  ["nothing", null],
  ["an empty file", ""],
  ["an empty line", "\n"],
  ["an empty object", "{}"],
  ["a blank object", "{ }\n"],
  ["an object on two lines", "{\n}\r\n"],
  ["a comment alone", "{\n  // nothing yet\n}\n"],
  ["empty hooks", '{"hooks":{}}'],
  ["an empty list", '{\n  "hooks": { "stop": [ ], "Stop": [], "AfterAgent":[]\n  }\n}\n'],
  ["a version", '{\n  "version": 1,\n  "hooks": {}\n}\n'],
  ["other settings with tabs", '{\n\t"a": 1,\n\t"b": [1, 2]\n}'],
  ["other settings with CRLF", '{\r\n  "a": 1\r\n}\r\n'],
  ["comments and trailing commas", '{\n  // note\n  "a": 1, // b\n}\n'],
  ["another hook", '{\n  "hooks": {\n    "stop": [\n      {"command": "x"}\n    ]\n  }\n}\n'],
  ["a byte order mark", '\ufeff{"a":1}\n'],
] as const;

const CLIENTS = CLIENT_NAMES.filter((client) => TARGETS[client].hooks !== undefined);

function fileOf(client: ClientName, scope: InstallScope): string {
  return join(TARGETS[client].folder(scope, around.project, around.env), TARGETS[client].hooks?.path ?? "");
}

function put(client: ClientName, scope: InstallScope, text: string | null): string {
  const file = fileOf(client, scope);
  if (text === null) return file;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o640);
  return file;
}

function install(client: ClientName, scope: InstallScope): void {
  const within = scope === "project" ? around.project : null;
  for (const change of planInstall(client, scope, around).changes) writeChange(change, within, around.env);
}

function uninstall(client: ClientName, scope: InstallScope): void {
  undoChanges(
    planUninstall(client, scope, around).changes,
    scope === "project" ? around.project : null,
    around.env,
  );
}

describe.each(["project", "user"] as const)("E1 for a %s", (scope) => {
  test.each(TEXTS)("%s is as it was", (_, text) => {
    for (const client of CLIENTS) {
      put(client, scope, text);
      const before = hashTree(join(base, scope === "user" ? "home" : "project"));
      install(client, scope);
      if (text !== null) expect(readFileSync(fileOf(client, scope), "utf8")).not.toBe(text);
      // again, as for an update
      install(client, scope);
      uninstall(client, scope);
      expect.soft(hashTree(join(base, scope === "user" ? "home" : "project")), client).toBe(before);
      expect.soft(existsSync(join(base, "home/.local/share/loopwright")), client).toBe(false);
    }
  });
});

test("E1 a file that somebody changed since keeps that change", () => {
  const file = put("cursor", "project", "{ }\n");
  install("cursor", "project");
  const changed = readFileSync(file, "utf8").replace('"version": 1', '"version": 1,\n  "mine": true');
  writeFileSync(file, changed);
  uninstall("cursor", "project");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ version: 1, mine: true });
});

test("E1 a folder that has something else now stays", () => {
  install("cursor", "project");
  writeFileSync(join(around.project, ".cursor/mine.txt"), "mine");
  uninstall("cursor", "project");
  expect(readFileSync(join(around.project, ".cursor/mine.txt"), "utf8")).toBe("mine");
  expect(existsSync(join(around.project, ".cursor/hooks.json"))).toBe(false);
});

test("H5 a file that is not UTF-8 is not changed, because its bytes would be lost", () => {
  const file = put("gemini", "project", "");
  const bytes = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xe9, 0x22, 0x7d]);
  writeFileSync(file, bytes);
  expect(() => planInstall("gemini", "project", around)).toThrow(/settings\.json is not UTF-8 text\.$/);
  expect(readFileSync(file).equals(bytes)).toBe(true);
});
