/** Opens an observer of a project's loops, in any process. */
import { Observer } from "../observe/observer.ts";
import type { TurnActivity } from "../ports/activity.ts";
import type { Store } from "../ports/store.ts";
import { systemClock } from "../system/clock.ts";

export function openObserver({ root, store }: { readonly root: string; readonly store: Store }): Observer {
  return new Observer(store, systemClock, store.activity ?? activityIn(root));
}

/** Loads the readers of all formats when the first turn is read: most commands read none. */
function activityIn(root: string): TurnActivity {
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
