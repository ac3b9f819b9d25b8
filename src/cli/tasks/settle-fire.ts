/** A deleted task's fire that no runner is there to stop: it is stopped from here. */
import { createEngine, createReconciler, thisRunner } from "../../compose/engine.ts";
import { isBusy, type Loop } from "../../core/loop.ts";
import { onlyLoop } from "../goals/only-loop.ts";
import type { Io } from "../io.ts";
import { renderNotice } from "../live/lines.ts";
import type { Project } from "../project.ts";
import { oneLine } from "../render/table.ts";
import { onStopSignals } from "../run/signals.ts";

/** Until the fire is settled; false when another runner took over, which settles it. Starts nothing. */
export async function settleFire(project: Project, { id }: Loop, io: Io): Promise<boolean> {
  const isSettled = () => {
    const loop = project.store.load(id);
    return loop === undefined || !isBusy(loop);
  };
  const engine = createEngine({
    store: onlyLoop(project.store, id, () => true),
    project: project.root,
    agent: createReconciler(project.root),
    goalAgent: createReconciler(project.root),
    notifier: { notify: (title, body) => io.say(renderNotice(title, body, io)) },
    self: thisRunner(),
    firing: true,
    observe: (news) => {
      if (news.type === "problem") io.say(oneLine(news.message));
      const isElsewhere = news.type === "role" && news.role === "passive";
      if (isElsewhere || isSettled()) void engine.stop("the deleted task's fire was settled");
    },
  });
  const off = onStopSignals((signal) => void engine.stop(`stopped by a person (${signal})`));
  engine.start();
  await engine.done;
  off();
  return isSettled();
}
