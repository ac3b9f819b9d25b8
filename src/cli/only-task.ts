/** For commands that run an engine for one task and nothing else. */
import type { LoopId, Task } from "../core/loop.ts";
import type { Store } from "../ports.ts";

/** The store with one task in it while `wanted`: a run by hand must not start, or cut short, what else is due. */
export function onlyTask(store: Store, id: LoopId, wanted: () => boolean): Store {
  const visible = (task: Task | undefined) =>
    task?.id === id && (wanted() || task.fire !== null) ? task : undefined;
  return {
    catchUp: () => store.catchUp(),
    refresh: () => store.refresh(),
    load: (other) => visible(store.load(other)),
    loops: () => [...store.loops()].filter((task) => visible(task) !== undefined).values(),
    commit: (commit) => store.commit(commit),
    lease: () => store.lease(),
    acquire: (lease, expectedToken) => store.acquire(lease, expectedToken),
    lastToken: () => store.lastToken(),
    release: (token, at) => store.release(token, at),
    heartbeat: (lease, at) => store.heartbeat(lease, at),
    holderState: (lease, now) => store.holderState(lease, now),
    isHolderGone: (lease) => store.isHolderGone(lease),
    publish: (options) => store.publish(options),
    watch: (callback) => store.watch(callback),
  };
}
