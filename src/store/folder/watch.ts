/**
 * Detects what other processes write into `.loop/`.
 *
 * The system's notification is fast but not reliable: network drives do not have it, watches run out, and it ends with
 * the folder. So it only triggers a look. Until it has reported a probe file of this process, there is also a look every
 * 250 ms. chokidar is not used: it drops changes within 50 ms of the last event, and the last commit matters most.
 */
import { type FSWatcher, rmSync, statSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "../../errors.ts";
import { orNull } from "../../system/files.ts";
import { generations } from "../journal/segment.ts";
import { segmentPath } from "../journal/segment-path.ts";
import { folderIdentity } from "./loop-dir.ts";

/** Even a busy process sees a change within 500 ms (A12). */
const LOOK_MS = 250;
/** Where the system's notification works, a look only finds what it lost. An idle process should sleep. */
const PROVED_LOOK_MS = 5_000;

export function watchFolder(dir: string, callback: () => void, say: (message: string) => void): () => void {
  let seen: string | null = null;
  let system: { readonly watcher: FSWatcher; readonly folder: string } | null = null;
  let isProved = false;
  let timer: NodeJS.Timeout | null = null;
  let isSystemUsable = true;
  let soon: NodeJS.Immediate | null = null;

  function look(): void {
    follow();
    const now = signature(dir);
    if (now === seen) return;
    seen = now;
    callback();
  }

  function lookAgainLater(): void {
    timer = setTimeout(
      () => {
        look();
        lookAgainLater();
      },
      isProved ? PROVED_LOOK_MS : LOOK_MS,
    );
  }

  /** Many events at the same moment cause one look. */
  function lookSoon(): void {
    soon ??= setImmediate(() => {
      soon = null;
      look();
    });
  }

  /** A watch belongs to a folder and not to its name, so a new folder needs a new watch, even with the same inode. */
  function follow(): void {
    const folder = folderIdentity(dir);
    if (!isSystemUsable || folder === (system?.folder ?? null)) return;
    system?.watcher.close();
    system = null;
    isProved = false;
    if (folder === null) return;
    try {
      const watcher = watch(dir, () => {
        isProved = isSystemUsable;
        lookSoon();
      });
      watcher.on("error", giveUp);
      system = { watcher, folder };
      proveSystem(dir);
    } catch (error) {
      giveUp(error);
    }
  }

  function giveUp(error: unknown): void {
    isSystemUsable = false;
    isProved = false;
    system?.watcher.close();
    system = null;
    say(`Cannot watch ${dir} (${reasonOf(error)}); looking every ${LOOK_MS} ms instead.`);
  }

  look();
  lookAgainLater();

  return () => {
    if (timer !== null) clearTimeout(timer);
    if (soon !== null) clearImmediate(soon);
    system?.watcher.close();
  };
}

/** Writes a probe file for the system to report. If that fails, the looks stay frequent. */
function proveSystem(dir: string): void {
  const probe = join(dir, `watch.${process.pid}.tmp`);
  orNull(() => {
    writeFileSync(probe, "", { mode: 0o600, flag: "wx" });
    rmSync(probe, { force: true });
  });
}

/**
 * Changes with every line of the journal, every new tasks.json and every replacement of the folder: without the last,
 * an emptied folder and a removed one look the same. Does not change with a heartbeat.
 */
function signature(dir: string): string {
  const files = [newestSegment(dir), join(dir, "tasks.json"), join(dir, "lease.asked")];
  return [folderIdentity(dir) ?? "-", ...files.map(stamp)].join(" ");
}

function newestSegment(dir: string): string {
  // an unreadable folder shows no journal
  return segmentPath(dir, orNull(() => generations(dir))?.at(-1) ?? 1);
}

function stamp(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "-" : `${stat.ino}:${stat.size}:${stat.mtimeMs}`;
}
