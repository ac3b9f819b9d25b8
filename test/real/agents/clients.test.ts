/** The manifests under test/clients, which are installed as they are: exact versions, and no machine's own registry. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { KINDS } from "../../support/agents/worlds.ts";

const folder = fileURLToPath(new URL("../../clients/", import.meta.url));
const names = readdirSync(folder);

test("E3 every client has a world, beside the Node that some of them need and the conformance suite", () => {
  expect(names).toEqual([...Object.keys(KINDS), "node", "mcp-conformance"].sort());
});

test.each(names)("E3 %s is pinned, and its lock file names no host", (name) => {
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(read(name, "package.json")) as Manifest;
  const wanted = { ...dependencies, ...optionalDependencies };
  for (const version of Object.values(wanted)) expect(version).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
  const lock = read(name, "package-lock.json");
  const { packages } = JSON.parse(lock) as { packages: Record<string, Manifest> };
  for (const [wantedName, version] of Object.entries(wanted))
    expect(packages[`node_modules/${wantedName}`]).toMatchObject({ version });
  expect(lock.match(/"resolved": "(?!https:\/\/registry\.npmjs\.org\/)[^"]*"/g)).toBeNull();
});

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function read(name: string, file: string): string {
  return readFileSync(`${folder}${name}/${file}`, "utf8");
}
