/** Notices what other processes write into `.loop/`. Its own module: only resident processes pay for chokidar. */
import { basename } from "node:path";
import { watch } from "chokidar";

const INTERESTING = /^(journal(\.\d+)?\.jsonl|loop\.lock|tasks\.json)$/;
/** Where the system's own notification fails (too many watches, network drives): look this often. */
const POLL_MS = 400;

export function watchFolder(dir: string, callback: () => void, say: (message: string) => void): () => void {
  let current = start(false);

  function start(usePolling: boolean) {
    const watcher = watch(dir, {
      depth: 0,
      ignoreInitial: true,
      usePolling,
      interval: POLL_MS,
      ignored: (path) => path !== dir && !INTERESTING.test(basename(path)),
    });
    watcher.on("all", callback);
    watcher.on("ready", callback);
    watcher.on("error", (error) => {
      if (usePolling) return;
      say(
        `Cannot watch ${dir} (${error instanceof Error ? error.message : String(error)}); looking every ${POLL_MS} ms instead.`,
      );
      void watcher.close();
      current = start(true);
    });
    return watcher;
  }

  return () => void current.close();
}
