/** Opens the store of a project. Only this file knows which kind of store that is. */
import { dirname } from "node:path";
import { forwardStore } from "../engine/forward-store.ts";
import type { Sessions, Store, TurnActivity } from "../ports/store.ts";
import { FolderStore } from "../store/folder/folder-store.ts";
import { ensureLoopDir } from "../store/folder/loop-dir.ts";
import type { FolderOptions } from "../store/folder/opened-folder.ts";
import { createSessions } from "../store/folder/session-records.ts";

const AT_WORK = "another git is at work here (if none is, remove its index.lock)";

/** `dir` is the project's `.loop`. Creates nothing: the folder must exist before the first commit. */
export function openStore(dir: string, options: FolderOptions): Store {
  const tracked = async () => {
    const { isGitAtWork, trackedEngineFiles } = await import("../git/tracked.ts");
    if (await isGitAtWork(dirname(dir))) return { files: [], problem: AT_WORK };
    return trackedEngineFiles(dirname(dir));
  };
  return Object.assign(new FolderStore(dir, { tracked, ...options }), {
    activity: activityIn(dirname(dir)),
  });
}

/** Like `openStore`, but the first commit creates the folder: clients start their servers in every project. */
export function openStoreLate(dir: string, options: FolderOptions): Store {
  const store = openStore(dir, options);
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

/** Loads the readers of all formats when the first turn is read: most commands read none. */
export function activityIn(root: string): TurnActivity {
  let loaded: Promise<TurnActivity> | null = null;
  const load = async (): Promise<TurnActivity> => {
    const [{ createRunFolderActivity }, { storyFolders }] = await Promise.all([
      import("../agents/activity/run-folder-activity.ts"),
      import("../git/worktrees/worktrees.ts"),
    ]);
    return createRunFolderActivity(root, () => storyFolders(root));
  };
  return {
    append() {},
    read: async (turn, options) => {
      loaded ??= load();
      return (await loaded).read(turn, options);
    },
  };
}
