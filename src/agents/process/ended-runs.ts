/** Removes the run folders of deleted tasks after a week. */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "../../system/inside.ts";
import { isRunning } from "./ticket.ts";

const KEPT_MS = 7 * 86_400_000;

/** Removes `.loop/runs/<id>` for unknown ids. Never throws, and never touches a running turn. */
export function removeEndedRuns(projectDir: string, isKnown: (id: string) => boolean, now: number): void {
  const runs = join(projectDir, ".loop", "runs");
  try {
    if (!isInside(projectDir, runs)) return;
    for (const id of readdirSync(runs)) {
      const folder = join(runs, id);
      if (/^[0-9a-f]{8}$/.test(id) && !isKnown(id) && isOver(folder, now - KEPT_MS))
        rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    // the next runner tries again
  }
}

function isOver(folder: string, before: number): boolean {
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.mtimeMs >= before) return false;
  return readdirSync(folder).every((name) => {
    const run = join(folder, name);
    const inner = lstatSync(run);
    return inner.mtimeMs < before && !(inner.isDirectory() && isRunning(run));
  });
}
