/** Opens an observer of a project's loops, in any process. */
import { Observer } from "../observe/observer.ts";
import type { Store } from "../ports/store.ts";
import { systemClock } from "../system/clock.ts";
import { activityIn } from "./open-store.ts";

export function openObserver({ root, store }: { readonly root: string; readonly store: Store }): Observer {
  return new Observer(store, systemClock, store.activity ?? activityIn(root));
}
