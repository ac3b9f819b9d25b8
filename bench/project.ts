/** Temporary projects for the figures, with tasks in them that are not due for a year. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cadence } from "../src/core/loop.ts";
import type { TaskDraft } from "../src/core/task/decide-task.ts";
import { addTask } from "../src/engine/tasks/tasks.ts";
import { FolderStore } from "../src/store/folder/folder-store.ts";
import { DRAFT } from "../test/support/memory-ports.ts";
import { idOf } from "../test/support/year.ts";

export const YEAR_MS = 365 * 86_400_000;

const made: string[] = [];
process.on("exit", () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** The built command; scripts/bench.mjs hands over a copy that nobody builds anew. */
export const COMMAND = process.env.LOOP_BENCH_COMMAND ?? "dist/loop.cjs";

/** What a spawned `loop` gets to see. */
export function commandEnv(root: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: root, TZ: "UTC" };
}

export function tempProject(): { root: string; dir: string } {
  const root = mkdtempSync(join(tmpdir(), "loop-bench-"));
  made.push(root);
  const dir = join(root, ".loop");
  mkdirSync(dir, { mode: 0o700 });
  return { root, dir };
}

export function openStore(dir: string): FolderStore {
  return new FolderStore(dir, { now: Date.now, say: (text) => console.error(text) });
}

export function farAway(n: number, now: number): Cadence {
  return { kind: "every", everyMs: YEAR_MS + n * 1000, anchorAt: now };
}

export function draftOf(n: number, cadence: Cadence): Omit<TaskDraft, "id"> {
  return { ...DRAFT, prompt: `look at service ${n} and say whether it is well`, cadence, jitter: true };
}

export { idOf };

/** A mix of what people have: crons in words that `list` knows, exact intervals, one-shots. */
export async function addFifty(dir: string): Promise<void> {
  const store = openStore(dir);
  const now = Date.now();
  for (let n = 0; n < 50; n++) {
    const cadence: Cadence =
      n % 5 === 4
        ? farAway(n, now)
        : {
            kind: "cron",
            expr: `${n} ${n % 24} ${1 + (n % 28)} 1 *`,
            tz: n % 2 === 0 ? "UTC" : "Europe/Paris",
          };
    await addTask(store, draftOf(n, cadence), 50, now, () => idOf(n));
  }
  await store.published.publish();
}
