/** Forwards every call to a store. Callers override single methods of the result. */
import type { Store } from "../ports/store.ts";

export function forwardStore(store: Store): Store {
  const { history, sessions, activity, published, requests } = store;
  return {
    history,
    sessions,
    ...(activity === undefined ? {} : { activity }),
    ...(published === undefined ? {} : { published }),
    ...(requests === undefined ? {} : { requests }),
    catchUp: () => store.catchUp(),
    refresh: () => store.refresh(),
    load: (id) => store.load(id),
    loops: () => store.loops(),
    commit: (commit) => store.commit(commit),
    watch: (callback) => store.watch(callback),
    takeForged: () => store.takeForged(),
    isInPlace: () => store.isInPlace(),
    faults: () => store.faults(),
    lease: () => store.lease(),
    lastToken: () => store.lastToken(),
    acquire: (bid, expectedToken) => store.acquire(bid, expectedToken),
    release: (token, at) => store.release(token, at),
    heartbeat: (lease, at) => store.heartbeat(lease, at),
    heartbeatAt: (lease) => store.heartbeatAt(lease),
    holderState: (lease, now) => store.holderState(lease, now),
    isHolderGone: (lease) => store.isHolderGone(lease),
    askForLease: (by) => store.askForLease(by),
    leaseAsked: () => store.leaseAsked(),
  };
}
