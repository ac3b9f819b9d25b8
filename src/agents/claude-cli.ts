import { z } from "zod";
import type { Usage } from "../core/event.ts";
import type { Agent, TurnEnd } from "../ports.ts";
import { ANSWER_CAP_BYTES, createLauncher, type LaunchOptions } from "./launch.ts";
import { describeExit, type Finished } from "./reasons.ts";

export interface ClaudeAgentOptions extends LaunchOptions {
  /** Absolute path, see `findExecutable`. */
  readonly executable: string;
  /** More arguments, one per element. */
  readonly args?: readonly string[];
  readonly projectDir: string;
}

/** Claude Code, headless: `claude -p` with its event stream, from which answer, failure and cost are read. */
export function createClaudeAgent({
  executable,
  args = [],
  projectDir,
  ...options
}: ClaudeAgentOptions): Agent {
  const launcher = createLauncher({
    ...options,
    projectDir,
    argv: [executable, "-p", "--output-format", "stream-json", "--verbose", ...args],
    // the last event holds the whole answer in one line: a cut line would be no event
    answerCapBytes: 64 * 1024 * 1024,
    readEnd: readClaudeEnd,
  });
  return { name: "claude", ...launcher };
}

const Count = z.number().nonnegative().nullish().catch(null);

const ModelUsage = z.object({
  costUSD: z.number().nonnegative(),
  inputTokens: z.number().nonnegative(),
  outputTokens: z.number().nonnegative(),
  cacheReadInputTokens: z.number().nonnegative().default(0),
  cacheCreationInputTokens: z.number().nonnegative().default(0),
});

/** Only what is read here; anything of another shape in the fields beside the verdict counts as missing. */
const ResultEvent = z.object({
  type: z.literal("result"),
  subtype: z.string().nullish().catch(null),
  is_error: z.boolean(),
  result: z.string().nullish().catch(null),
  terminal_reason: z.string().nullish().catch(null),
  api_error_status: z.union([z.number(), z.string()]).nullish().catch(null),
  errors: z.array(z.string()).nullish().catch(null),
  total_cost_usd: Count,
  model_usage_since_last_result: z.record(z.string(), ModelUsage).nullish().catch(null),
  usage: z
    .object({
      input_tokens: Count,
      output_tokens: Count,
      cache_creation_input_tokens: Count,
      cache_read_input_tokens: Count,
    })
    .nullish()
    .catch(null),
});
type ResultEvent = z.infer<typeof ResultEvent>;

/** Reads `--output-format stream-json`. The last `result` event counts; without one nothing was achieved. */
export function readClaudeEnd(finished: Finished): TurnEnd {
  const events = readResults(finished.answer);
  const event = events.at(-1);
  if (event === undefined) {
    const reason = finished.exitCode === 0 ? "claude ended without a result" : describeExit(finished);
    return { kind: "failed", reason, answer: "", usage: null };
  }
  const answer = capped(event.result ?? "");
  const usage = readUsage(event, events);
  // An API error arrives with subtype "success": is_error decides.
  if (event.is_error || (event.subtype ?? "success") !== "success") {
    return { kind: "failed", reason: describeError(event), answer, usage };
  }
  if (finished.exitCode !== 0) {
    return { kind: "failed", reason: describeExit({ ...finished, answer: "" }), answer, usage };
  }
  return { kind: "ok", answer, usage };
}

function readResults(stream: string): readonly ResultEvent[] {
  return stream
    .split("\n")
    .filter((line) => line.includes('"result"')) // a look before the parse: some lines are megabytes
    .map((line) => ResultEvent.safeParse(parseJson(line)))
    .flatMap((event) => (event.success ? [event.data] : []));
}

function describeError(event: ResultEvent): string {
  const kind = event.terminal_reason ?? (event.subtype === "success" ? "error" : event.subtype) ?? "error";
  const status = event.api_error_status == null ? "" : ` ${event.api_error_status}`;
  const text = describeText(event.result || event.errors?.join("; ") || "");
  return `claude: ${kind.replaceAll("_", " ")}${status}${text === "" ? "" : `: ${text}`}`;
}

function describeText(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return Array.from(line).slice(0, 200).join("");
}

function readUsage(last: ResultEvent, events: readonly ResultEvent[]): Usage {
  // `total_cost_usd` of a resumed session includes the turns before this one; the parts do not.
  const parts = events.map((event) => event.model_usage_since_last_result);
  if (parts.every((part) => part != null)) {
    const models = parts.flatMap((part) => Object.values(part));
    return {
      costUsd: sum(models.map((model) => model.costUSD)),
      inputTokens: sum(
        models.map((m) => m.inputTokens + m.cacheReadInputTokens + m.cacheCreationInputTokens),
      ),
      outputTokens: sum(models.map((model) => model.outputTokens)),
    };
  }
  const { usage } = last;
  const input = [usage?.input_tokens, usage?.cache_creation_input_tokens, usage?.cache_read_input_tokens];
  return {
    costUsd: last.total_cost_usd ?? null,
    inputTokens: usage?.input_tokens == null ? null : sum(input.map((count) => count ?? 0)),
    outputTokens: usage?.output_tokens ?? null,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function capped(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= ANSWER_CAP_BYTES) return text;
  let from = bytes.length - ANSWER_CAP_BYTES;
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return bytes.toString("utf8", from);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
