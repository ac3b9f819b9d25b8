/** Opens the store of a project. Only this file knows which kind of store that is. */
import { dirname } from "node:path";
import { forwardStore } from "../engine/forward-store.ts";
import type { Sessions, Store } from "../ports/store.ts";
import { FolderStore } from "../store/folder/folder-store.ts";
import { ensureLoopDir } from "../store/folder/loop-dir.ts";
import { createSessions } from "../store/folder/session-records.ts";

export interface StoreSetup {
  readonly now: () => number;
  /** Messages for a person: a file was moved aside, watching degraded. */
  readonly say: (message: string) => void;
}

/** `dir` is the project's `.loop`. Creates nothing: the folder must exist before the first commit. */
export function openStore(dir: string, setup: StoreSetup): Store {
  return new FolderStore(dir, setup);
}

/** Like `openStore`, but the first commit creates the folder: clients start their servers in every project. */
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

/** Only the sessions: hooks need them before they read any loop. */
export function openSessions(dir: string): Sessions {
  return createSessions(dir);
}
