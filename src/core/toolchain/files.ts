/**
 * What files are for, told by their names alone: tests and configuration of the tools in the table. Names count at
 * any depth, because projects hold projects.
 */
import { ECOSYSTEMS, TOOLS } from "./table.ts";
import type { FileRole, FileRule } from "./tool.ts";

/** Folders of which everything belongs to the tests: fixtures, snapshots and helpers are parts of tests. */
const TEST_FOLDER =
  /(?:^|\/)(?:tests?|specs?|__tests__|__snapshots__|__mocks__|__fixtures__|e2e|testdata|cypress|Tests|UnitTests|integration-tests?)\//;

const BY_NAME = mergeRules([
  ...ECOSYSTEMS.flatMap(({ files }) => files),
  ...TOOLS.flatMap(({ files = [] }) => files),
]);
const BY_PATH = mergeRules(ECOSYSTEMS.flatMap(({ paths = [] }) => paths));

export const ALL_ROLES: ReadonlySet<FileRole> = new Set([
  "tests:any",
  ...[...BY_NAME, ...BY_PATH].map(([role]) => role),
]);

/** One pattern for each role: every file of a project is asked. */
function mergeRules(rules: readonly FileRule[]): readonly FileRule[] {
  const merged = new Map<string, readonly [FileRole, string, string]>();
  for (const [role, { source, flags }] of rules) {
    const key = `${role} ${flags}`;
    const known = merged.get(key)?.[1];
    merged.set(key, [role, known === undefined ? source : `${known}|${source}`, flags]);
  }
  return [...merged.values()].map(([role, source, flags]) => [role, new RegExp(source, flags)]);
}

/** What the file is for; empty: no check consists of it by its name alone. */
export function rolesOf(path: string): readonly FileRole[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const roles: FileRole[] = [];
  for (const [role, pattern] of BY_NAME) if (pattern.test(name)) roles.push(role);
  if (TEST_FOLDER.test(path)) roles.push("tests:any");
  for (const [role, pattern] of BY_PATH) if (pattern.test(path)) roles.push(role);
  return roles;
}

/** A link can stand for a whole folder of tests. */
export function rolesOfLink(path: string): readonly FileRole[] {
  return [...new Set([...rolesOf(path), ...rolesOf(`${path}/x`)])];
}

/** Files that people keep secrets in: their text is kept nowhere and shown to nobody. */
export function mayHoldSecrets(path: string): boolean {
  return /(?:^|\/)(?:\.env[^/]*|\.npmrc|\.yarnrc[^/]*|\.netrc|\.pypirc|local\.properties|nuget\.config)$/i.test(
    path,
  );
}

/** Folders of the product: what a check looks at, not what it consists of. */
export function isSource(path: string): boolean {
  return /(?:^|\/)(?:src|lib|app|source|sources|pkg|internal|cmd)\//.test(path);
}

const FILLED: ReadonlySet<string> = new Set(ECOSYSTEMS.flatMap(({ folders = [] }) => folders));
const FILLED_BESIDE = ECOSYSTEMS.flatMap(({ foldersBeside = [] }) => foldersBeside);

/**
 * Folders that tools fill. Without git, which would know, they do not count, and no check finds its tests there.
 * `build`, `out` and `bin` alone are not among them: many projects keep scripts there.
 */
export function isToolFolder(name: string, beside: { readonly files: readonly string[] }): boolean {
  if (FILLED.has(name) || name.endsWith(".egg-info")) return true;
  return FILLED_BESIDE.some(
    ([folder, sign]) => folder === name && beside.files.some((file) => sign.test(file)),
  );
}
