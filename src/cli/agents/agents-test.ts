/**
 * `loop agents test <name>`: tests an agent with four real turns in a temporary folder: an answer, a continued
 * conversation, a file, a stopped turn.
 *
 * JSON: `{ version: 1, agent, ok, steps: [{ name, ok, needed, detail, ms }] }`. Loops work without steps not `needed`.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentChoice, chooseAgent, isAgentTyped } from "../../compose/agent-choice.ts";
import { agentFor } from "../../compose/agents.ts";
import { renderAgentSpec } from "../../core/agents.ts";
import type { AgentSpec } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { usageError } from "../../errors.ts";
import type { Agent, Turn, TurnControl, TurnEnd } from "../../ports/agent.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { EXIT } from "../exit-codes.ts";
import { type Io, paint } from "../io.ts";
import { openProject, type ProjectFlags } from "../project.ts";
import { listenForStop } from "../run/signals.ts";

type AgentsTestFlags = AgentChoice & ProjectFlags;

const TURN_WITHIN_MS = 3 * 60_000;
/** Long enough for a busy machine to kill a process that ignores the signal. */
const STOP_WITHIN_MS = 3_000;

interface Step {
  readonly name: string;
  readonly ok: boolean;
  readonly needed: boolean;
  readonly detail: string;
  readonly ms: number;
}

export async function agentsTestCommand(
  name: string | undefined,
  flags: AgentsTestFlags,
  io: Io,
): Promise<number> {
  const stop = listenForStop();
  const spec = chosen(name, flags, io);
  const agentName = cleanLine(renderAgentSpec(spec));
  const folder = mkdtempSync(join(tmpdir(), "loopwright agent "));
  const steps: Step[] = [];
  if (!flags.json) io.say(`Testing ${agentName} with four short turns. Its model charges for them.`);
  const agent = agentFor(spec, folder, process.env);
  try {
    for await (const step of stepsOf(agent, folder, stop.signal)) {
      if (stop.signal.aborted) break;
      steps.push(step);
      if (!flags.json) io.out(renderStep(step, io));
    }
  } finally {
    await agent.close?.();
    rmSync(folder, { recursive: true, force: true });
  }
  if (stop.signal.aborted) {
    io.say("Stopped.");
    return EXIT.interrupted;
  }
  const ok = steps.every((step) => step.ok || !step.needed);
  if (flags.json) io.json({ version: 1, agent: agentName, ok, steps });
  else io.say(verdictOn(steps));
  return ok ? EXIT.ok : EXIT.failure;
}

/** Without a name: this project's agent. */
function chosen(name: string | undefined, flags: AgentsTestFlags, io: Io): AgentSpec {
  if (name === undefined) {
    const config = isAgentTyped(flags) ? {} : readConfig(openProject(flags, io));
    return chooseAgent(flags, config, process.env);
  }
  if (isAgentTyped(flags))
    throw usageError("The agent is named twice.", "Use a name or a flag, not both: loop agents test <name>");
  return chooseAgent({ agent: name }, {}, process.env);
}

function verdictOn(steps: readonly Step[]): string {
  const failed = steps.filter((step) => !step.ok);
  if (failed.some(({ needed }) => needed)) {
    const isLoggedOut = failed.some(({ detail }) => detail.startsWith("auth: "));
    return `This agent does not work with loops.${isLoggedOut ? " Start it once by itself to log in." : ""}`;
  }
  return failed.length === 0
    ? "This agent works with loops."
    : "This agent works with loops, without the steps marked --.";
}

/** Ends after the first turn that fails. */
async function* stepsOf(agent: Agent, folder: string, signal: AbortSignal): AsyncGenerator<Step> {
  const word = `loop-${randomBytes(4).toString("hex")}`;
  const control: TurnControl = { signal, onStarted: () => {} };
  const saysWord = (end: Ended) => (end.answer.includes(word) ? null : `it said: ${end.answer}`);

  const first = await timed(() =>
    agent.run(turnOf("answer", `Answer with this word and nothing else: ${word}`), control),
  );
  yield { name: "answers", ...judged(first, saysWord) };
  if (first.end.kind !== "ok") return;

  const { usage, conversation } = first.end;
  yield optional("says what it used", usage !== null, renderUsage(usage));

  const name = "goes on with a conversation";
  if (conversation === null)
    yield optional(name, false, "every turn starts a new conversation with the whole prompt");
  else {
    const text = "Which word did you answer with a moment ago? Answer with it and nothing else.";
    const second = await timed(() => agent.run({ ...turnOf("resume", text), conversation }, control));
    yield { name, ...judged(second, saysWord) };
    if (second.end.kind !== "ok") return;
  }

  const text = `Write the file hello.txt here, with this word in it: ${word}. Then say done.`;
  const third = await timed(() => agent.run(turnOf("file", text), control));
  const isWritten = () => read(join(folder, "hello.txt")).includes(word);
  yield {
    name: "writes a file",
    ...judged(third, () => (isWritten() ? null : "hello.txt is missing or does not contain the word")),
  };
  if (third.end.kind !== "ok") return;

  yield await stopStep(agent, signal);
}

function optional(name: string, ok: boolean, detail: string): Step {
  return { name, ok, needed: false, detail, ms: 0 };
}

/** Stops the turn at its first event, or 2 s after its process started. */
async function stopStep(agent: Agent, signal: AbortSignal): Promise<Step> {
  const stopping = new AbortController();
  let stoppedAt: number | null = null;
  const stop = () => {
    stoppedAt ??= performance.now();
    stopping.abort("test");
  };
  const text = "Count slowly from 1 to 500, with a sentence about each number.";
  const end = await agent.run(turnOf("stop", text), {
    signal: AbortSignal.any([signal, stopping.signal]),
    onStarted: () => setTimeout(stop, 2_000).unref(),
    onEvent: stop,
  });
  const ms = stoppedAt === null ? 0 : Math.round(performance.now() - stoppedAt);
  const isLate = ms > STOP_WITHIN_MS;
  const common = { name: "is stopped", ok: end.kind !== "failed" && !isLate, needed: true, ms };
  if (end.kind === "failed") return { ...common, detail: renderFailure(end) };
  return {
    ...common,
    detail: isLate ? "it stopped too late" : end.kind === "ok" ? "it ended before the stop" : "",
  };
}

type Ended = Extract<TurnEnd, { kind: "ok" }>;

async function timed(run: () => Promise<TurnEnd>) {
  const before = performance.now();
  const end = await run();
  return { end, ms: Math.round(performance.now() - before) };
}

type Timed = Awaited<ReturnType<typeof timed>>;

function judged({ end, ms }: Timed, faultOf: (end: Ended) => string | null): Omit<Step, "name"> {
  if (end.kind === "cancelled") return { ok: false, needed: true, detail: "it was stopped", ms };
  if (end.kind === "failed") return { ok: false, needed: true, detail: renderFailure(end), ms };
  const fault = faultOf(end);
  return { ok: fault === null, needed: true, detail: cleanLine(fault ?? "").slice(0, 200), ms };
}

function renderFailure({ failure }: Extract<TurnEnd, { kind: "failed" }>): string {
  return cleanLine(`${failure.class}: ${failure.reason}`).slice(0, 300);
}

function turnOf(id: string, text: string): Turn {
  return {
    id,
    loopId: "self-test" as LoopId,
    token: 1,
    text,
    conversation: null,
    budgetUsd: null,
    deadlineAt: Date.now() + TURN_WITHIN_MS,
    // with a nonce like a goal's turn, so that warm agents stay warm here too
    env: { LOOP_KIND: "test", LOOP_ROLE: "generator", LOOP_NONCE: "00000000" },
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function renderUsage(usage: Ended["usage"]): string {
  if (usage === null) return "reports no tokens and no cost: limits in dollars or tokens have no effect";
  const { inputTokens, outputTokens, costUsd, costFrom } = usage;
  const cost =
    costUsd === null
      ? "no cost"
      : `$${costUsd.toFixed(4)}${costFrom === "prices" ? " from the price table" : ""}`;
  return `${inputTokens ?? "?"} tokens in, ${outputTokens ?? "?"} out, ${cost}`;
}

function renderStep({ name, ok, needed, detail, ms }: Step, io: Io): string {
  const mark = ok
    ? paint(io, "green", "ok  ")
    : needed
      ? paint(io, "red", "FAIL")
      : paint(io, "yellow", "--  ");
  const time = ms === 0 ? "" : ` (${(ms / 1000).toFixed(1)}s)`;
  return `${mark} ${name}${time}${detail === "" ? "" : `: ${detail}`}`;
}
