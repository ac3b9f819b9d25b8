/** Opens the store of a project. This is the one place that knows which kind of store that is. */
import { dirname } from "node:path";
import { forwardStore } from "../engine/forward-store.ts";
import type { Sessions, Store } from "../ports/store.ts";
import { FolderStore } from "../store/folder/folder-store.ts";
import { ensureLoopDir } from "../store/folder/loop-dir.ts";
import { createSessions } from "../store/folder/session-records.ts";

export interface StoreSetup {
  readonly now: () => number;
  /** Told to a person: a file was moved aside, watching degraded. */
  readonly say: (message: string) => void;
}

/** `dir` is the project's `.loop`. Nothing is created; before the first commit somebody has to make the folder. */
export function openStore(dir: string, setup: StoreSetup): Store {
  return new FolderStore(dir, setup);
}

/** The same, and the first commit makes the folder: clients start their servers in every project. */
export function openStoreLate(dir: string, setup: StoreSetup): Store {
  const store = openStore(dir, setup);
  return {
    ...forwardStore(store),
    commit: async (commit) => {
      ensureLoopDir(dirname(dir));
      return store.commit(commit);
    },
  };
}

/** Only what is known of conversations: hooks ask that before there is a reason to read the loops. */
export function openSessions(dir: string): Sessions {
  return createSessions(dir);
}
