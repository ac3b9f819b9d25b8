/** `loop until`: an agent works turn after turn until the engine's own checks pass. */
import { requireAgent } from "../../compose/agent-choice.ts";
import { newLoopId } from "../../compose/engine.ts";
import { renderCheck } from "../../core/checks/kinds.ts";
import { questionsFor } from "../../core/spec/rubric.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { count } from "../../core/text/figures.ts";
import { addGoal } from "../../engine/goals/goals.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { EXIT } from "../exit-codes.ts";
import { commandFlag, secretNotice } from "../flags/values.ts";
import { hostSession } from "../hosts/host-session.ts";
import { answer, type Io } from "../io.ts";
import { openProject, openProjectToWrite, type ProjectFlags } from "../project.ts";
import { listenForStop } from "../run/signals.ts";
import { isScoredByAgent, scoreWithAgent } from "./agent-score.ts";
import { runGoal } from "./goal-runner.ts";
import { readSpec, rescore, type Spec, type SpecFlags } from "./goal-spec.ts";
import { renderDimension } from "./score.ts";

export interface UntilFlags extends SpecFlags, ProjectFlags {
  readonly detach?: boolean;
  readonly dryRun?: boolean;
  readonly notifyCmd?: string;
  /** Binds the goal to this conversation. Default: the conversation in which the command was typed. */
  readonly session?: string;
}

export async function untilCommand(words: string[], flags: UntilFlags, io: Io): Promise<number> {
  // First: a signal while the spec is read must not look like a crash.
  const stop = listenForStop();
  commandFlag("--notify-cmd", flags.notifyCmd);
  const reader = openProject(flags, io);
  const config = readConfig(reader);
  const typed = readSpec(words, flags, reader, config, process.env);
  const spec = await scored(typed, flags, stop.signal);
  if (spec === null) return EXIT.interrupted;
  const session = flags.session ?? hostSession(process.env);
  if (spec.shape === null) return refuseVague(spec, flags, io);
  if (flags.dryRun) return showSpec(spec, flags, io);
  // A missing agent is reported before anything is written.
  if (session === null) requireAgent(spec.draft.agent, process.env);
  if (spec.draft.criteria.length === 0) io.say(noCheck(spec));
  const secret = secretNotice(spec.draft.spec, ...spec.draft.criteria.map(renderCheck));
  if (secret !== null) io.say(secret);
  const project = openProjectToWrite(flags, io);
  const draft = { ...spec.draft, session };
  const goal = await addGoal(project.store, draft, Date.now(), newLoopId);
  await project.store.published?.publish();
  if (!flags.json)
    io.out(
      `Goal ${goal.id}. Writing state to .loop/state.json and .loop/runs/${goal.id}/. To end the goal: loop cancel`,
    );
  if (flags.detach) {
    if (flags.json)
      io.json({ type: "loop.created", loop: goal.id, ...(session === null ? {} : { session }) });
    else if (goal.session === null) io.out(`To run it: loop continue ${goal.id}, or: loop up`);
    return EXIT.ok;
  }
  return runGoal(project, goal, flags, io, stop);
}

/** null: the agent was stopped. */
async function scored(spec: Spec, flags: UntilFlags, signal: AbortSignal): Promise<Spec | null> {
  if (!isScoredByAgent(flags)) return spec;
  const score = await scoreWithAgent(spec.draft.spec, spec.draft.agent, process.env, signal);
  return score === null ? null : rescore(spec, score, flags, process.env);
}

function noCheck({ unknown }: Spec): string {
  const what =
    unknown === null
      ? "There is no check that can prove the end"
      : `"${cleanLine(unknown)}" is not a phrase with a known check`;
  return `${what}. The agent will propose checks, and you approve them. To add a check yourself: --check 'name=command'`;
}

/** B2: a score below 5 does not start. */
function refuseVague(spec: Spec, flags: UntilFlags, io: Io): number {
  const questions = questionsFor(spec.score);
  answer(flags, io, { type: "loop.vague", ...spec.score, questions }, renderScore(spec, io));
  if (flags.json) return EXIT.vague;
  io.say("The spec is too vague. Answer these questions in the spec, or add --force to start anyway:");
  for (const question of questions) io.say(`  - ${question}`);
  return EXIT.vague;
}

function showSpec(spec: Spec, flags: UntilFlags, io: Io): number {
  const { draft, score } = spec;
  const lines = [
    renderScore(spec, io),
    `Would start: ${draft.shape}, workflow ${draft.workflow}, type ${draft.reversibility}`,
    ...draft.criteria.map((criterion) => `  check ${cleanLine(renderCheck(criterion))}`),
    ...(draft.criteria.length === 0 ? [`  ${noCheck(spec)}`] : []),
    `  ${draft.needsPlan ? "the first turn plans the steps" : count(draft.steps.length, "step")}`,
  ];
  return answer(flags, io, { type: "loop.plan", ...draft, score }, lines.join("\n"));
}

function renderScore({ score }: Spec, io: Io): string {
  const lines = score.dimensions.flatMap((one) => renderDimension(one, io));
  return [`The spec scores ${score.total} of 10:`, ...lines].join("\n");
}
