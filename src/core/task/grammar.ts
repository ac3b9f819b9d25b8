import { type Invalid, invalid } from "../base.ts";
import { type Interval, parseLeadingInterval, parseTrailingInterval, renderDuration } from "./interval.ts";

export type ParsedWords =
  | {
      readonly kind: "recurring";
      readonly prompt: string;
      readonly interval: Interval;
      readonly source: "leading" | "trailing" | "default";
    }
  | { readonly kind: "at"; readonly hour: number; readonly minute: number; readonly prompt: string }
  | { readonly kind: "in"; readonly delayMs: number; readonly text: string; readonly prompt: string }
  | { readonly kind: "auto"; readonly prompt: string }
  | { readonly kind: "usage" }
  | Invalid;

/** Parses the words after `loop`. Every string has an answer. */
export function parseLoopWords(input: string, defaultIntervalMs: number): ParsedWords {
  const words = input.trim();
  if (words === "") return { kind: "usage" };
  const keyword = /^(at|in|auto)(?!\S)/i.exec(words)?.[1]?.toLowerCase();
  const rest = keyword === undefined ? "" : words.slice(keyword.length).trim();
  if (keyword === "auto") return { kind: "auto", prompt: rest };
  const once = keyword === "at" ? parseAt(rest) : keyword === "in" ? parseIn(rest) : null;
  return once ?? parseRecurring(words, defaultIntervalMs);
}

const LONGEST_DELAY_MS = 366 * 86_400_000;
const CLOCK = /^(\d{1,2})(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.)?(?!\S)/i;
/** Times that a clock cannot read. Any other word after `at` or `in` starts a prompt. */
const VAGUE_TIME = /^(?:noon|midnight|midday)(?!\S)/i;
const VAGUE_DELAY =
  /^(?:soon|later|(?:(?:an?|one|half|few|couple|some|of|the|next)\s+){1,4}(?:second|minute|min|hour|day|week|while|bit|moment)s?)(?!\S)/i;

function parseRecurring(words: string, defaultIntervalMs: number): ParsedWords {
  const leading = parseLeadingInterval(words);
  const found = leading ?? parseTrailingInterval(words);
  if (found === null) {
    const interval = { ms: defaultIntervalMs, text: renderDuration(defaultIntervalMs) };
    return { kind: "recurring", prompt: words, interval, source: "default" };
  }
  if (found.rest === "") return { kind: "usage" };
  if (found.interval.ms <= 0) {
    return invalid(`${found.interval.text} is not an interval; write one above zero, such as 5m.`);
  }
  const source = leading === null ? "trailing" : "leading";
  return { kind: "recurring", prompt: found.rest, interval: found.interval, source };
}

/** `null`: no time follows, so "at" is the first word of a prompt. */
function parseAt(rest: string): ParsedWords | null {
  const form = 'write "at 14:30 <prompt>" or "at 2:30pm <prompt>"';
  if (rest === "") return invalid(`There is no time after "at"; ${form}.`);
  if (!/^\d/.test(rest) && !VAGUE_TIME.test(rest)) return null;
  const match = CLOCK.exec(rest);
  const said = `"at ${quoteStart(match?.[0] ?? rest)}"`;
  const time = match === null ? null : readClock(match[1], match[2], match[3]);
  if (match === null || time === null) return invalid(`${said} is not a time of day; ${form}.`);
  const prompt = rest.slice(match[0].length).trim();
  if (prompt === "") return invalid(`There is no prompt after ${said}; ${form}.`);
  return { kind: "at", ...time, prompt };
}

function parseIn(rest: string): ParsedWords | null {
  const form = 'write "in 45m <prompt>" or "in 2 hours <prompt>"';
  if (rest === "") return invalid(`There is no length of time after "in"; ${form}.`);
  if (!/^\d/.test(rest) && !VAGUE_DELAY.test(rest)) return null;
  const found = /^\d/.test(rest) ? parseLeadingInterval(rest) : null;
  if (found === null) return invalid(`"in ${quoteStart(rest)}" is not a length of time; ${form}.`);
  const { ms, text } = found.interval;
  if (ms <= 0) return invalid(`"in ${text}" is not above zero; ${form}.`);
  if (ms > LONGEST_DELAY_MS) return invalid(`"in ${text}" is more than 366 days away; ${form}.`);
  if (found.rest === "") return invalid(`There is no prompt after "in ${text}"; ${form}.`);
  return { kind: "in", delayMs: ms, text, prompt: found.rest };
}

function readClock(hours: string | undefined, minutes: string | undefined, half: string | undefined) {
  const hour = Number(hours);
  const minute = Number(minutes ?? 0);
  if (minute > 59) return null;
  if (half === undefined) return minutes === undefined || hour > 23 ? null : { hour, minute };
  if (hour < 1 || hour > 12) return null;
  return { hour: (hour % 12) + (/^p/i.test(half) ? 12 : 0), minute };
}

/** The first words, on one line, short enough for a sentence. */
function quoteStart(text: string): string {
  const start = text.slice(0, 200).trim().split(/\s+/).slice(0, 2).join(" ");
  return start.length > 30 ? `${start.slice(0, 30)}…` : start;
}
