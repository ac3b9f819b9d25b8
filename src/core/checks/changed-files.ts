/** Compares two snapshots of the files: added, changed and deleted paths, sorted. */

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

/** Files in both snapshots that were written in between, even with the same content. */
export function rewrittenFiles(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  return [...after].flatMap(([path, stamp]) => {
    const old = before.get(path);
    return old === undefined || old === stamp ? [] : [path];
  });
}
