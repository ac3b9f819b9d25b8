/** Where a replaced backlog is kept (C10): `.loop/archive/<date>-<branch>/`. */

const MAX_BRANCH = 60;

/** The date is in UTC, so that the name does not depend on the machine. `count` tells several of one day apart. */
export function archiveName(branchName: string | null, at: number, count = 1): string {
  const date = new Date(at).toISOString().slice(0, 10);
  const branch = (branchName ?? "")
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .slice(0, MAX_BRANCH)
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  return `${date}-${branch === "" ? "backlog" : branch}${count === 1 ? "" : `-${count}`}`;
}

/** Files that belong to the stories of one backlog. In the next one, US-001 is another story. */
export const ARCHIVED = ["progress.md", "contracts", "triage"] as const;
