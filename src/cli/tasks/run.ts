/** `loop run <id>`: now. The owner takes it; without one, a terminal runs it here and waits for its end. */
import { chooseAgent } from "../../compose/agent-choice.ts";
import { createEngine, thisRunner } from "../../compose/engine.ts";
import type { Outcome } from "../../core/event.ts";
import { viewTask } from "../../core/task/view.ts";
import { findTask, requestEvent } from "../../engine/tasks/tasks.ts";
import type { Lease } from "../../ports/store.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { EXIT } from "../exit-codes.ts";
import { onlyLoop } from "../goals/only-loop.ts";
import type { Io } from "../io.ts";
import { createAsker } from "../live/hold.ts";
import { renderNotice } from "../live/lines.ts";
import { leftOutText, writeInBackground } from "../live/outlet.ts";
import { createPermissionDesk } from "../live/permission-question.ts";
import { askPermission } from "../live/question.ts";
import { oneLine, printable } from "../render/table.ts";
import { renderHistory } from "../render/tasks.ts";
import { listenForStop } from "../run/signals.ts";
import { openWithEdits } from "./change.ts";
import { renderRunner } from "./create.ts";
import { liveOwner } from "./list.ts";
import { checkRunnerFlags, type RunnerFlags } from "./up.ts";

export async function runCommand(
  prefix: string,
  flags: RunnerFlags & { detach?: boolean },
  io: Io,
): Promise<number> {
  // first of all, see `loop up`
  const stop = listenForStop();
  checkRunnerFlags(flags);
  const project = await openWithEdits(flags, io);
  const task = findTask(project.store, prefix);
  const owner = liveOwner(project.store, Date.now());
  const here =
    owner === null &&
    io.interactive &&
    !flags.detach &&
    !flags.json &&
    process.env.LOOP_DISABLE_SCHEDULER !== "1";
  if (stop.signal.aborted) return EXIT.interrupted;
  // An agent that is not there must be known before the request is made.
  const agent = here ? chooseAgent(flags, readConfig(project), process.env) : null;
  const requested = await requestEvent(project.store, task, { type: "task.run-requested" }, Date.now());
  await project.store.published?.publish();
  if (flags.json) io.json({ ...viewTask(requested), owner: owner?.owner ?? null });
  if (agent === null) {
    if (!flags.json)
      io.out(
        owner === null ? `${task.id} waits to be run.` : oneLine(`${task.id} is handed to ${owner.owner}.`),
      );
    if (owner === null) io.say(renderRunner(owner, process.env.LOOP_DISABLE_SCHEDULER !== "1"));
    return EXIT.ok;
  }
  writeInBackground(io, leftOutText);
  io.say(`Running ${task.id} here; Ctrl-C stops it.`);
  let handedTo: Lease | null = null;
  const outcome = await runOnce();
  if (handedTo !== null) io.say(renderRunner(handedTo, true));
  if (outcome === null) return handedTo === null ? EXIT.interrupted : EXIT.ok;
  io.out(renderHistory([outcome], Date.now(), io, Number.POSITIVE_INFINITY));
  return outcome.outcome === "ok" ? EXIT.ok : EXIT.failure;

  async function runOnce(): Promise<Outcome | null> {
    let result: Outcome | null = null;
    const ask = createAsker(io);
    const engine = createEngine({
      store: onlyLoop(project.store, task.id, () => result === null),
      project: project.root,
      agent: agent as NonNullable<typeof agent>,
      notifier: { notify: (title, body) => io.say(renderNotice(title, body, io)) },
      self: thisRunner(),
      firing: true,
      askPerson: createPermissionDesk((question, signal) => ask(() => askPermission(question, signal))),
      observe: (news) => {
        if (news.type === "problem") io.say(oneLine(news.message));
        if (news.type === "answer" && news.loop.id === task.id) io.out(printable(news.text).trimEnd());
        // somebody else took the lease in the meantime, and the request with it
        if (news.type === "role" && news.role === "passive") {
          handedTo = news.lease;
          void engine.stop("another runner has the lease");
        }
        if (news.type !== "outcomes") return;
        // A run that was waiting already (the initial one) is the run that was asked for.
        result = news.outcomes.find(({ outcome }) => outcome !== "missed" && outcome !== "skipped") ?? result;
        if (result !== null) void engine.stop("the run was over");
      },
    });
    const end = () => void engine.stop(`stopped by a person (${stop.signal.reason})`);
    stop.signal.addEventListener("abort", end, { once: true });
    engine.start();
    if (stop.signal.aborted) end();
    await engine.done;
    return result;
  }
}
