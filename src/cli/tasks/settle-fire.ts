/** Stops the running turn of a deleted task or stopped goal when no runner is there to do it. */
import { createReconciler } from "../../compose/engine.ts";
import { isBusy, type Loop, type LoopId } from "../../core/loop.ts";
import { forwardStore } from "../../engine/forward-store.ts";
import type { Store } from "../../ports/store.ts";
import type { Io } from "../io.ts";
import { createPlainView } from "../live/view.ts";
import type { Project } from "../project.ts";
import { runForeground } from "../run/foreground.ts";
import { listenForStop } from "../run/signals.ts";

/** Returns when the turn has ended. false: another runner took over and ends it. Starts nothing. */
export async function settleOrphan(project: Project, { id }: Loop, io: Io): Promise<boolean> {
  const isSettled = () => {
    const loop = project.store.load(id);
    return loop === undefined || !isBusy(loop);
  };
  const view = createPlainView(io);
  const stop = listenForStop();
  const reconciler = createReconciler(project.root);
  await runForeground(
    {
      project,
      store: onlyLoop(project.store, id, () => true),
      agent: reconciler,
      goalAgent: reconciler,
      firing: true,
      view,
      stop,
    },
    (run) => ({
      observe: (news) => {
        if (news.type === "problem") view.problem(news.message);
        const isElsewhere = news.type === "role" && news.role === "passive";
        if (isElsewhere || isSettled()) void run.stop("the deleted task's fire was settled");
      },
    }),
  );
  stop.off();
  return isSettled();
}

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
