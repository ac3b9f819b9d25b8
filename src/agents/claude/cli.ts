import { resolve } from "node:path";
import type { Agent, Conversation, ToolServer, Turn, TurnEnd } from "../../ports/agent.ts";
import { ANSWER_CAP_BYTES, createLauncher, type LaunchOptions } from "../process/launch.ts";
import { lastBytes } from "../process/lines.ts";
import { describeExit, type Finished, makeFailure } from "../process/reasons.ts";
import { readActivity, readActivityLine } from "./activity.ts";
import { type ClaudeEvent, parseClaudeStream, type ResultEvent } from "./events.ts";
import { classifyFailure, isUnresumable } from "./failure.ts";
import { toolArguments, withClaudeTools } from "./tools.ts";
import { readClaudeUsage } from "./usage.ts";

export interface ClaudeAgentOptions extends LaunchOptions {
  /** Absolute path, see `findProgram`. */
  readonly executable: string;
  readonly args?: readonly string[];
  readonly projectDir: string;
  readonly toolServer?: ToolServer;
}

/** Claude Code, headless: runs `claude -p` and reads its event stream. */
export function createClaudeAgent({
  executable,
  args = [],
  projectDir,
  toolServer,
  ...options
}: ClaudeAgentOptions): Agent {
  const folder = resolve(projectDir);
  const launcher = createLauncher({
    ...options,
    projectDir,
    argv: (turn) => [
      executable,
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      ...args,
      ...argumentsOf(turn),
    ],
    // the last event has the whole answer in one line, which must not be cut
    answerCapBytes: 64 * 1024 * 1024,
    format: "claude",
    readEnd: (finished, turn) => readClaudeEnd(finished, turn, folder),
    openLines: () => (line) => readActivityLine(line, folder),
  });
  const agent = { name: "claude", ...launcher };
  return toolServer === undefined ? agent : withClaudeTools(agent, toolServer);
}

/** Without this rule every edit is denied, because nobody is there to answer. */
const MAY_EDIT = "Edit(./**)";

function argumentsOf({ conversation, model, budgetUsd, env, commands = [] }: Turn): readonly string[] {
  // a comma or a bracket would end the rule and allow something else
  const checks = commands.filter((command) => /^[^,()\n]+$/.test(command));
  const work = [MAY_EDIT, ...checks.map((command) => `Bash(${command})`)];
  const tools = toolArguments({ env });
  const allowed = [...(env.LOOP_ROLE === "generator" ? work : []), ...tools.allowed];
  return [
    // added to the person's own settings; a mode would replace them
    ...(allowed.length > 0 ? [`--allowedTools=${allowed.join(",")}`] : []),
    ...tools.args,
    ...(conversation === null ? [] : ["--resume", conversation.id]),
    ...(model === undefined ? [] : ["--model", model]),
    // counts this run only, also in a resumed conversation
    ...(budgetUsd === null ? [] : ["--max-budget-usd", Math.max(budgetUsd, 0.0001).toFixed(4)]),
  ];
}

/** Reads `--output-format stream-json`. The last `result` event decides; without one the turn failed. */
export function readClaudeEnd(
  finished: Finished,
  turn: Pick<Turn, "conversation">,
  projectDir: string,
): TurnEnd {
  const events = parseClaudeStream(finished.answer);
  const results = events.filter((event) => event.type === "result");
  const last = results.at(-1);
  const activity = readActivity(events, projectDir);
  if (last === undefined) {
    const reason = finished.exitCode === 0 ? "claude ended without a result" : describeExit(finished);
    const failure = makeFailure("fault", reason);
    const conversation = begunConversation(events, turn.conversation);
    return { kind: "failed", failure, answer: "", usage: null, conversation, activity };
  }
  const result = {
    answer: lastBytes(last.result ?? "", ANSWER_CAP_BYTES),
    usage: readClaudeUsage(last, results, turn.conversation),
    conversation: isUnresumable(last, events, turn.conversation) ? null : conversationOf(last),
    activity,
  };
  // an API error has the subtype "success", so is_error decides
  if (last.is_error || (last.subtype ?? "success") !== "success") {
    return { kind: "failed", failure: classifyFailure(last, events, turn.conversation), ...result };
  }
  if (finished.exitCode !== 0) {
    const failure = makeFailure("fault", describeExit({ ...finished, answer: "" }));
    return { kind: "failed", failure, ...result };
  }
  return { kind: "ok", ...result };
}

function conversationOf({ session_id, total_cost_usd }: ResultEvent): Conversation | null {
  return session_id ? { id: session_id, costUsd: total_cost_usd ?? null } : null;
}

/** For a killed run: its cost is in no total, so the previous total stays valid. */
function begunConversation(
  events: readonly ClaudeEvent[],
  resumed: Conversation | null,
): Conversation | null {
  const begun = events.find((event) => event.type === "system" && event.subtype === "init");
  if (begun?.type !== "system" || !begun.session_id) return null;
  return { id: begun.session_id, costUsd: resumed === null ? 0 : resumed.costUsd };
}
