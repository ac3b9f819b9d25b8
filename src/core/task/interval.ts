/** Lengths of time, as people write and read them. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

export interface Interval {
  readonly ms: number;
  /** As the person typed it, on one line: "90 minutes", "every other day". */
  readonly text: string;
}

/** Reads `5m …`, `90 minutes …`, `every hour …` at the start of the words. */
export function parseLeadingInterval(input: string): { interval: Interval; rest: string } | null {
  const words = input.trim();
  const phrase = EVERY.exec(words);
  const from = phrase === null ? 0 : phrase[0].length;
  const found = (phrase === null ? null : readPeriod(words, from)) ?? readAmount(words, from);
  if (found === null || !isWordEnd(words, found.end)) return null;
  const text = found.named ? words.slice(0, found.end) : words.slice(from, found.end);
  return { interval: toInterval(found.ms, text), rest: words.slice(found.end).trim() };
}

/** Reads `… every 20m`, `… every other day.` at the end of the words. */
export function parseTrailingInterval(input: string): { interval: Interval; rest: string } | null {
  const words = input.trim();
  const closed = /[.!]$/.test(words) ? words.slice(0, -1).trimEnd() : words;
  // Only the interval may follow the last "every".
  let at = -1;
  for (const match of closed.matchAll(/every/gi)) at = match.index;
  if (at < 0 || (at > 0 && !isSpace(closed[at - 1]))) return null;
  const clause = parseLeadingInterval(closed.slice(at));
  if (clause === null || clause.rest !== "") return null;
  return { interval: clause.interval, rest: closed.slice(0, at).trim() };
}

/** Parses a text that is one length of time, such as the value of `--expires`; `null`: it is not. */
export function parseDuration(text: string): number | null {
  const words = text.trim();
  const found = readAmount(words, 0);
  // At most a thousand years: a longer one can leave the range of dates.
  if (found === null || found.end !== words.length || found.ms > 365_250 * DAY) return null;
  return Math.round(found.ms);
}

/** Two units at most: "45s", "1h 30m", "3d 4h". */
export function renderDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "unknown";
  if (ms < 0) return `-${renderDuration(-ms)}`;
  if (Math.round(ms) === 0) return "0s";
  if (Math.round(ms) < SECOND) return `${Math.round(ms)}ms`;
  const seconds = Math.round(ms / SECOND);
  if (seconds < 3600) return joinUnits(seconds, 60, "m", "s");
  const minutes = Math.round(ms / MINUTE);
  if (minutes < 1440) return joinUnits(minutes, 60, "h", "m");
  return joinUnits(Math.round(ms / HOUR), 24, "d", "h");
}

interface Found {
  readonly ms: number;
  readonly end: number;
  /** No number was typed ("every hour"): the text keeps its "every". */
  readonly named: boolean;
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ...["s", "sec", "secs", "second", "seconds"].map((name) => [name, SECOND] as const),
  ...["m", "min", "mins", "minute", "minutes"].map((name) => [name, MINUTE] as const),
  ...["h", "hr", "hrs", "hour", "hours"].map((name) => [name, HOUR] as const),
  ...["d", "day", "days"].map((name) => [name, DAY] as const),
  ...["w", "wk", "wks", "week", "weeks"].map((name) => [name, WEEK] as const),
]);

const EVERY = /^every\s+/i;
/** In "every second day", "second" is no unit. */
const PERIOD = /(?:(?:other|second)\s+(second|minute|hour|day|week)|(second|minute|hour|day|week))(?!\S)/iy;
const TERM = /(\d+(?:\.\d+)?)(\s*)([a-z]+)/iy;

function readPeriod(words: string, from: number): Found | null {
  PERIOD.lastIndex = from;
  const match = PERIOD.exec(words);
  if (match === null) return null;
  const [whole, other, each] = match;
  const unit = UNITS.get((other ?? each ?? "").toLowerCase());
  if (unit === undefined) return null;
  return { ms: other === undefined ? unit : 2 * unit, end: from + whole.length, named: true };
}

/** One term, or several with falling units: `1h30m`, `1h 30m`, `1 hour 30 minutes`. */
function readAmount(words: string, from: number): Found | null {
  let term = readTerm(words, from);
  if (term === null) return null;
  let { ms, end } = term;
  for (;;) {
    const from = end + (words.slice(end).match(/^\s*/)?.[0].length ?? 0);
    const next = readTerm(words, from);
    if (next === null || next.unit >= term.unit) break;
    // "1h 30m" is one amount, but "2h 30 minutes of logs" is an interval and a prompt.
    if (from > end && next.worded !== term.worded) break;
    if (!isWordEnd(words, next.end) && !/\d/.test(words[next.end] ?? "")) break;
    ms += next.ms;
    end = next.end;
    term = next;
  }
  return { ms, end, named: false };
}

function readTerm(words: string, from: number) {
  TERM.lastIndex = from;
  const match = TERM.exec(words);
  if (match === null) return null;
  const [whole, amount = "", gap = "", name = ""] = match;
  const unit = UNITS.get(name.toLowerCase());
  // "5 m" may mean metres, so an abbreviation must touch its number.
  if (unit === undefined || (gap !== "" && (name.length === 1 || unit === 1))) return null;
  return { ms: Number(amount) * unit, unit, end: from + whole.length, worded: name.length > 1 };
}

function toInterval(ms: number, typed: string): Interval {
  const rounded = Math.round(Math.min(ms, Number.MAX_SAFE_INTEGER));
  const text = typed.replace(/\s+/g, " ");
  return { ms: rounded, text: text.length > 40 ? renderDuration(rounded) : text };
}

function joinUnits(count: number, size: number, large: string, small: string): string {
  const rest = count % size;
  if (count < size) return `${count}${small}`;
  const head = `${Math.floor(count / size)}${large}`;
  return rest === 0 ? head : `${head} ${rest}${small}`;
}

function isWordEnd(words: string, at: number): boolean {
  return at >= words.length || isSpace(words[at]);
}

function isSpace(char: string | undefined): boolean {
  return char !== undefined && /\s/.test(char);
}
