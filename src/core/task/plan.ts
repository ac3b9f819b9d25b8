/** Turns the words of a person into a cadence and a prompt, for the CLI, the tools and every host. */
import { type Invalid, invalid } from "../base.ts";
import type { Cadence } from "../loop.ts";
import { type CadencePlan, planCadence } from "./convert.ts";
import { nextSlot } from "./cron.ts";
import { parseCron } from "./cron-fields.ts";
import { type ParsedWords, parseLoopWords } from "./grammar.ts";
import { isTimeZone } from "./zone.ts";

export interface PlanInput {
  readonly words: string;
  /** If given, all words are the prompt. */
  readonly cron: string | null;
  readonly tz: string;
  readonly exact: boolean;
  readonly defaultIntervalMs: number;
  readonly now: number;
}

export type Plan = (CadencePlan & { readonly prompt: string }) | { readonly kind: "usage" } | Invalid;

/** Each line of the journal contains the prompt. */
export const MAX_PROMPT_LENGTH = 200_000;
export const TOO_LONG = `The prompt is longer than ${MAX_PROMPT_LENGTH} characters; put it into a file and name the file in the prompt.`;

export function planTask(input: PlanInput): Plan {
  if (input.cron !== null) return planCron(input.cron, input.words.trim(), true, input);
  if (!isTimeZone(input.tz)) return notZone(input.tz);
  const parsed = parseLoopWords(input.words, input.defaultIntervalMs);
  switch (parsed.kind) {
    case "usage":
    case "invalid":
      return parsed;
    case "recurring":
      return planInterval(parsed, input);
    case "at": {
      const at = nextSlot(`${parsed.minute} ${parsed.hour} * * *`, input.tz, input.now);
      return at === null
        ? invalid("This time of day does not occur within a year; choose another.")
        : plan({ kind: "once", at, cron: null, tz: input.tz }, parsed.prompt, null);
    }
    case "in": {
      const at = input.now + parsed.delayMs;
      return plan({ kind: "once", at, cron: null, tz: input.tz }, parsed.prompt, null);
    }
    case "auto":
      return plan({ kind: "paced", wakeAt: null, reason: null }, parsed.prompt, null);
  }
}

/** A cron expression, recurring or for its next match only. */
export function planCron(
  expr: string,
  prompt: string,
  recurring: boolean,
  { tz, now }: Pick<PlanInput, "tz" | "now">,
): Plan {
  if (!isTimeZone(tz)) return notZone(tz);
  const parsed = parseCron(expr);
  if (parsed.kind === "invalid") return parsed;
  const next = nextSlot(expr, tz, now);
  if (next === null) return invalid(`"${expr}" matches no time within a year.`);
  const fields = expr.trim().split(/\s+/).join(" ");
  if (prompt === "") return invalid("The prompt is empty; say what the agent should do.");
  return recurring
    ? plan({ kind: "cron", expr: fields, tz }, prompt, null)
    : plan({ kind: "once", at: next, cron: fields, tz }, prompt, null);
}

function planInterval(parsed: Extract<ParsedWords, { kind: "recurring" }>, input: PlanInput): Plan {
  const planned = planCadence(parsed.interval, input);
  if (planned.kind === "invalid") return planned;
  const { source, interval, prompt } = parsed;
  const missing = `No interval was given, so it runs every ${interval.text}; put one first, as in "5m …".`;
  const notices = [source === "default" ? missing : null, planned.notice].filter((each) => each !== null);
  return plan(planned.cadence, prompt, notices.join(" ") || null);
}

function plan(cadence: Cadence, prompt: string, notice: string | null): Plan {
  if (prompt.length > MAX_PROMPT_LENGTH) return invalid(TOO_LONG);
  return { kind: "plan", cadence, prompt, notice };
}

function notZone(tz: string): Plan {
  return invalid(`"${tz}" is not a time zone; write a name such as Europe/Paris or UTC.`);
}
