/** The roles of files by their names: tests and configuration of the tools in the table, at any depth. */
import { ECOSYSTEMS, TOOLS } from "./table.ts";
import type { FileRole, FileRule } from "./tool.ts";

/** Everything in these folders belongs to the tests, including fixtures, snapshots and helpers. */
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

/** One pattern for each role, because every file of a project is tested. */
function mergeRules(rules: readonly FileRule[]): readonly FileRule[] {
  const merged = new Map<string, readonly [FileRole, string, string]>();
  for (const [role, { source, flags }] of rules) {
    const key = `${role} ${flags}`;
    const known = merged.get(key)?.[1];
    merged.set(key, [role, known === undefined ? source : `${known}|${source}`, flags]);
  }
  return [...merged.values()].map(([role, source, flags]) => [role, new RegExp(source, flags)]);
}

/** Empty: the name alone does not make it part of a check. */
export function rolesOf(path: string): readonly FileRole[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const roles: FileRole[] = [];
  for (const [role, pattern] of BY_NAME) if (pattern.test(name)) roles.push(role);
  if (TEST_FOLDER.test(path)) roles.push("tests:any");
  for (const [role, pattern] of BY_PATH) if (pattern.test(path)) roles.push(role);
  return roles;
}

/** A link can point to a whole folder of tests. */
export function rolesOfLink(path: string): readonly FileRole[] {
  return [...new Set([...rolesOf(path), ...rolesOf(`${path}/x`)])];
}

/** Files that may contain secrets. Their text is never stored or shown. */
export function mayHoldSecrets(path: string): boolean {
  return /(?:^|\/)(?:\.env[^/]*|\.npmrc|\.yarnrc[^/]*|\.netrc|\.pypirc|local\.properties|nuget\.config)$/i.test(
    path,
  );
}

/** Folders of the product: a check looks at them but does not depend on them. */
export function isSource(path: string): boolean {
  return /(?:^|\/)(?:src|lib|app|source|sources|pkg|internal|cmd)\//.test(path);
}

const FILLED: ReadonlySet<string> = new Set(ECOSYSTEMS.flatMap(({ folders = [] }) => folders));
const FILLED_BESIDE = ECOSYSTEMS.flatMap(({ foldersBeside = [] }) => foldersBeside);

/**
 * Folders that tools fill. Without git they are ignored. `build`, `out` and `bin` alone are not among them, because
 * many projects keep scripts there.
 */
export function isToolFolder(name: string, beside: { readonly files: readonly string[] }): boolean {
  if (FILLED.has(name) || name.endsWith(".egg-info")) return true;
  return FILLED_BESIDE.some(
    ([folder, sign]) => folder === name && beside.files.some((file) => sign.test(file)),
  );
}
