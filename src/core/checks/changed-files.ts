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
export function rewrittenFiles(before: Files["files"], after: Files["files"]): string[] {
  const rewritten = [...after].filter(([path, stamp]) => (before.get(path) ?? stamp) !== stamp);
  return rewritten.map(([path]) => path);
}
