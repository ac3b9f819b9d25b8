/**
 * Notices what other processes write into `.loop/`.
 *
 * The system's own notification is fast but no promise: it is missing on network drives, runs out of watches, and
 * dies with the folder. So it only says when to look, and until it has told of a file that we put there ourselves, a
 * look every 250 ms finds what it missed. (chokidar is not used: it drops what changes within 50 ms of the event
 * before, and the last commit of a burst is what counts.)
 */
import { type FSWatcher, readdirSync, rmSync, statSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderIdentity } from "./loop-dir.ts";

const SEGMENT = /^journal(?:\.(\d+))?\.jsonl$/;
/** A change is seen within 500 ms (A12), also by a busy process. */
const LOOK_MS = 250;
/** The system's notification works here: this is only for what it may lose. An idle process should sleep. */
const PROVED_LOOK_MS = 5_000;

export function watchFolder(dir: string, callback: () => void, say: (message: string) => void): () => void {
  let seen: string | null = null;
  let system: { readonly watcher: FSWatcher; readonly inode: number } | null = null;
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

  /** Many events of one moment are one look. */
  function lookSoon(): void {
    soon ??= setImmediate(() => {
      soon = null;
      look();
    });
  }

  /** The watch belongs to a folder, not to its name: a new folder needs a new one. */
  function follow(): void {
    const inode = statSync(dir, { throwIfNoEntry: false })?.ino ?? 0;
    if (!isSystemUsable || inode === (system?.inode ?? 0)) return;
    system?.watcher.close();
    system = null;
    isProved = false;
    if (inode === 0) return;
    try {
      const watcher = watch(dir, () => {
        isProved = isSystemUsable;
        lookSoon();
      });
      watcher.on("error", giveUp);
      system = { watcher, inode };
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
    const reason = error instanceof Error ? error.message : String(error);
    say(`Cannot watch ${dir} (${reason}); looking every ${LOOK_MS} ms instead.`);
  }

  look();
  lookAgainLater();

  return () => {
    if (timer !== null) clearTimeout(timer);
    if (soon !== null) clearImmediate(soon);
    system?.watcher.close();
  };
}

/** Something for the system to tell of. Where it cannot be written, the looks stay frequent. */
function proveSystem(dir: string): void {
  const probe = join(dir, `watch.${process.pid}.tmp`);
  try {
    writeFileSync(probe, "", { mode: 0o600 });
    rmSync(probe, { force: true });
  } catch {
    // a folder that we may only read
  }
}

/**
 * Changes with every line of the journal and every new tasks.json, and with the folder itself: what `rm -rf` emptied
 * and then removed looks the same twice but for that. Not with a heartbeat, which is no news.
 */
function signature(dir: string): string {
  const files = [newestSegment(dir), "tasks.json", "lease.asked"].map((name) => stamp(join(dir, name)));
  return [folderIdentity(dir) ?? "-", ...files].join(" ");
}

function newestSegment(dir: string): string {
  let newest = 0;
  try {
    for (const name of readdirSync(dir)) {
      const match = SEGMENT.exec(name);
      if (match !== null) newest = Math.max(newest, Number(match[1] ?? 1));
    }
  } catch {
    // no folder, no journal
  }
  return newest > 1 ? `journal.${newest}.jsonl` : "journal.jsonl";
}

function stamp(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "-" : `${stat.ino}:${stat.size}:${stat.mtimeMs}`;
}
