/**
 * `loop agents test <name>`: does this agent do here what loops need of it? Four real turns in a folder of its own,
 * which cost what the agent's model costs: an answer, a file, a conversation that goes on, a turn that is stopped.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentChoice, chooseAgent } from "../../agent-choice.ts";
import { agentFor } from "../../compose-agents.ts";
import { renderAgentSpec } from "../../core/agents.ts";
import type { LoopId } from "../../core/loop.ts";
import { renderDuration } from "../../core/task/interval.ts";
import { cleanLine } from "../../core/text/clean.ts";
import type { Agent, Turn, TurnControl, TurnEnd } from "../../ports.ts";
import { EXIT } from "../exit-codes.ts";
import { type Io, paint } from "../io.ts";
import { listenForStop } from "../signals.ts";

export interface AgentsTestFlags extends AgentChoice {
  readonly json?: boolean;
}

const TURN_WITHIN_MS = 3 * 60_000;
/** A person who stops a loop does not want to wait. */
const STOP_WITHIN_MS = 1_000;

interface Step {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly ms: number;
}

export async function agentsTestCommand(
  name: string | undefined,
  flags: AgentsTestFlags,
  io: Io,
): Promise<number> {
  const choice = name === undefined ? flags : { ...flags, agent: name };
  const spec = chooseAgent(choice, {}, process.env);
  const stop = listenForStop();
  const folder = mkdtempSync(join(tmpdir(), "loopwright agent "));
  const agent = agentFor(spec, folder, process.env);
  const steps: Step[] = [];
  if (!flags.json)
    io.say(`Testing ${renderAgentSpec(spec)} with four short turns. They cost what its model costs.`);
  try {
    for await (const step of stepsOf(agent, folder, stop.signal)) {
      steps.push(step);
      if (!flags.json) io.out(renderStep(step, io));
    }
  } finally {
    await agent.close?.();
    rmSync(folder, { recursive: true, force: true });
  }
  if (stop.signal.aborted) return EXIT.interrupted;
  const ok = steps.every((step) => step.ok);
  if (flags.json) io.json({ agent: renderAgentSpec(spec), ok, steps });
  else io.say(ok ? "It can be trusted with loops here." : "It does not do all that loops need.");
  return ok ? EXIT.ok : EXIT.failure;
}

/** The first that fails is the last where those after it cannot say anything of their own. */
async function* stepsOf(agent: Agent, folder: string, signal: AbortSignal): AsyncGenerator<Step> {
  const word = `loop-${randomBytes(4).toString("hex")}`;
  const control: TurnControl = { signal, onStarted: () => {} };

  const first = await timed(() =>
    agent.run(turnOf("answer", `Answer with this word and nothing else: ${word}`), control),
  );
  yield {
    name: "answers",
    ...judged(first, (end) => (end.answer.includes(word) ? null : `it said: ${end.answer}`)),
  };
  if (first.end.kind !== "ok") return;

  const { usage, conversation } = first.end;
  yield { name: "says what it used", ok: usage !== null, detail: renderUsage(usage), ms: 0 };

  const file = join(folder, "hello.txt");
  const second = await timed(() =>
    agent.run(
      turnOf("file", `Write the file hello.txt here, with this word in it: ${word}. Then say done.`),
      control,
    ),
  );
  yield {
    name: "writes a file",
    ...judged(second, () =>
      read(file).includes(word) ? null : "hello.txt is not there, or not as it was asked for",
    ),
  };

  if (conversation === null)
    yield {
      name: "goes on with a conversation",
      ok: false,
      detail: "it has none: every turn starts anew",
      ms: 0,
    };
  else {
    const text = "Which word did you answer with a moment ago? Answer with it and nothing else.";
    const third = await timed(() => agent.run({ ...turnOf("resume", text), conversation }, control));
    yield {
      name: "goes on with a conversation",
      ...judged(third, (end) => (end.answer.includes(word) ? null : `it said: ${end.answer}`)),
    };
  }

  yield await stopStep(agent, signal);
}

/** Stopped as soon as its process is there or it says something, whatever comes first. */
async function stopStep(agent: Agent, signal: AbortSignal): Promise<Step> {
  const stopping = new AbortController();
  let stoppedAt = 0;
  const stop = () => {
    stoppedAt ||= performance.now();
    stopping.abort("test");
  };
  const text = "Count slowly from 1 to 500, with a sentence about each number.";
  const end = await agent.run(turnOf("stop", text), {
    signal: AbortSignal.any([signal, stopping.signal]),
    onStarted: () => setTimeout(stop, 2_000).unref(),
    onEvent: stop,
  });
  const ms = stoppedAt === 0 ? 0 : performance.now() - stoppedAt;
  const detail =
    end.kind === "cancelled" ? "" : end.kind === "failed" ? end.failure.reason : "it had ended by then";
  const ok = end.kind === "cancelled" ? ms <= STOP_WITHIN_MS : end.kind === "ok" && stoppedAt === 0;
  return { name: "is stopped", ok, detail: cleanLine(detail), ms };
}

interface Timed {
  readonly end: TurnEnd;
  readonly ms: number;
}

async function timed(run: () => Promise<TurnEnd>): Promise<Timed> {
  const before = performance.now();
  const end = await run();
  return { end, ms: performance.now() - before };
}

function judged(
  { end, ms }: Timed,
  faultOf: (end: Extract<TurnEnd, { kind: "ok" }>) => string | null,
): Pick<Step, "ok" | "detail" | "ms"> {
  if (end.kind === "cancelled") return { ok: false, detail: "it was stopped", ms };
  if (end.kind === "failed")
    return { ok: false, detail: cleanLine(`${end.failure.class}: ${end.failure.reason}`), ms };
  const fault = faultOf(end);
  return { ok: fault === null, detail: cleanLine(fault ?? "").slice(0, 200), ms };
}

function turnOf(id: string, text: string): Turn {
  return {
    ...{ id, loopId: "self-test" as LoopId, token: 1, text, conversation: null, budgetUsd: null },
    deadlineAt: Date.now() + TURN_WITHIN_MS,
    env: { LOOP_KIND: "test", LOOP_ROLE: "generator" },
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function renderUsage(usage: Extract<TurnEnd, { kind: "ok" }>["usage"]): string {
  if (usage === null) return "neither tokens nor cost: budgets in dollars cannot be kept with it";
  const { inputTokens, outputTokens, costUsd, costFrom } = usage;
  const cost =
    costUsd === null
      ? "no cost"
      : `$${costUsd.toFixed(4)}${costFrom === "prices" ? " by the price table" : ""}`;
  return `${inputTokens ?? "?"} tokens in, ${outputTokens ?? "?"} out, ${cost}`;
}

function renderStep({ name, ok, detail, ms }: Step, io: Io): string {
  const mark = ok ? paint(io, "green", "ok  ") : paint(io, "red", "FAIL");
  const time = ms === 0 ? "" : ` (${renderDuration(Math.max(1_000, Math.round(ms / 1000) * 1000))})`;
  return `${mark} ${name}${time}${detail === "" ? "" : `: ${detail}`}`;
}
