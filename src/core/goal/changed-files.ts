/** What differs between two looks at the files: added, changed and deleted alike, sorted. */

interface Files {
  readonly hash: string;
  readonly files: ReadonlyMap<string, string>;
}

export function changedFiles(before: Files, after: Files): string[] {
  if (before.hash === after.hash) return [];
  const changed = [...after.files].filter(([path, hash]) => before.files.get(path) !== hash);
  const deleted = [...before.files.keys()].filter((path) => !after.files.has(path));
  return [...changed.map(([path]) => path), ...deleted].sort();
}

/** What is there at both looks and was written to in between, whether it differs or not. */
export function rewrittenFiles(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  return [...after].flatMap(([path, stamp]) => {
    const old = before.get(path);
    return old === undefined || old === stamp ? [] : [path];
  });
}
