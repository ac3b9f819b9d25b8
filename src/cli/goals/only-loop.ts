/** For commands that run an engine for one loop only. */
import { isBusy, type Loop, type LoopId } from "../../core/loop.ts";
import { forwardStore } from "../../engine/forward-store.ts";
import type { Store } from "../../ports/store.ts";

/** A store that shows only one loop while `wanted`: a manual run must not start or stop other loops. */
export function onlyLoop(store: Store, id: LoopId, wanted: () => boolean): Store {
  const visible = (loop: Loop | undefined) =>
    loop?.id === id && (wanted() || isBusy(loop)) ? loop : undefined;
  return {
    ...forwardStore(store),
    load: (other) => visible(store.load(other)),
    loops: () => [...store.loops()].filter((loop) => visible(loop) !== undefined).values(),
  };
}
