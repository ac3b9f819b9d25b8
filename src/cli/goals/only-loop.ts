/** For commands that run an engine for one task and nothing else. */
import { isBusy, type Loop, type LoopId } from "../../core/loop.ts";
import { forwardStore } from "../../engine/forward-store.ts";
import type { Store } from "../../ports/store.ts";

/** The store with one task in it while `wanted`: a run by hand must not start, or cut short, what else is due. */
export function onlyLoop(store: Store, id: LoopId, wanted: () => boolean): Store {
  const visible = (loop: Loop | undefined) =>
    loop?.id === id && (wanted() || isBusy(loop)) ? loop : undefined;
  return {
    ...forwardStore(store),
    load: (other) => visible(store.load(other)),
    loops: () => [...store.loops()].filter((loop) => visible(loop) !== undefined).values(),
  };
}
