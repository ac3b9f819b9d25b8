/** For commands that run an engine for one task and nothing else. */
import { isBusy, type Loop, type LoopId } from "../../core/loop.ts";
import type { Store } from "../../ports/store.ts";

/** The store with one task in it while `wanted`: a run by hand must not start, or cut short, what else is due. */
export function onlyLoop(store: Store, id: LoopId, wanted: () => boolean): Store {
  const visible = (loop: Loop | undefined) =>
    loop?.id === id && (wanted() || isBusy(loop)) ? loop : undefined;
  return {
    catchUp: () => store.catchUp(),
    refresh: () => store.refresh(),
    load: (other) => visible(store.load(other)),
    loops: () => [...store.loops()].filter((loop) => visible(loop) !== undefined).values(),
    commit: (commit) => store.commit(commit),
    lease: () => store.lease(),
    acquire: (lease, expectedToken) => store.acquire(lease, expectedToken),
    lastToken: () => store.lastToken(),
    release: (token, at) => store.release(token, at),
    heartbeat: (lease, at) => store.heartbeat(lease, at),
    holderState: (lease, now) => store.holderState(lease, now),
    isHolderGone: (lease) => store.isHolderGone(lease),
    isSessionOver: (session) => store.isSessionOver(session),
    deliveredTo: (turnId) => store.deliveredTo(turnId),
    askForLease: (by) => store.askForLease(by),
    leaseAsked: () => store.leaseAsked(),
    takeForged: () => store.takeForged(),
    publish: (options) => store.publish(options),
    watch: (callback) => store.watch(callback),
  };
}
