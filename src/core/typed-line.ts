/**
 * What a person types in a conversation behind the name of our command, as the words of the command line. There is no shell in
 * between: a pair of quotes around words groups them, and any other quote stands for itself ("don't").
 */

export interface TypedLine {
  /** The first word, when it is a command of ours; null: an interval and a prompt. */
  readonly command: string | null;
  /** A prompt stands behind `--`, so that it may begin with a dash. */
  readonly argv: readonly string[];
}

export function parseTypedLine(text: string, commands: ReadonlySet<string>): TypedLine {
  const line = text.trim();
  const [, first = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = commandOf(first, rest, commands);
  if (command === null) return { command, argv: splitFlags(line) };
  if (command === "until" || command === "score") return { command, argv: [command, ...splitSpec(rest)] };
  return { command, argv: [command, ...splitWords(rest)] };
}

/** "Pause" is a command, and "Clear the cache every hour" is a prompt, as in a terminal. */
function commandOf(first: string, rest: string, commands: ReadonlySet<string>): string | null {
  if (commands.has(first)) return first;
  const lower = first.toLowerCase();
  const isMeant = lower === "until" || lower === "score" || /^(?:[0-9a-f]{1,8})?$/i.test(rest);
  return isMeant && commands.has(lower) ? lower : null;
}

/** Flags in front are words of their own; the prompt behind them stays as it was typed, line breaks too. */
function splitFlags(line: string): readonly string[] {
  const words: string[] = [];
  let rest = line;
  for (;;) {
    const found = FLAG.exec(rest);
    if (found === null) break;
    const [whole, name = "", value] = found;
    // only these take a value: a prompt may follow the others
    const isPair = VALUED.has(name);
    words.push(name, ...(isPair && value !== undefined ? [unquote(value)] : []));
    rest = rest.slice(isPair && value !== undefined ? whole.length : name.length).trimStart();
  }
  return rest === "" ? words : [...words, "--", rest];
}

const FLAG = /^(--[a-z][a-z-]*)(?:[=\s]+("[^"]*"|'[^']*'|\S+))?/;
const VALUED: ReadonlySet<string> = new Set(
  "--cron --tz --expires --missed --grace --expect --alert-after --timeout --in --prompt-file --agent --agent-cmd".split(
    " ",
  ),
);

/** `until "npm test passes" fix it` has two parts; without quotes all of it is what must become true. */
function splitSpec(text: string): readonly string[] {
  const words = readWords(text);
  const flags = words.findIndex(({ text, isQuoted }) => !isQuoted && /^--[a-z]/.test(text));
  const end = flags === -1 ? text.length : (words[flags]?.start ?? 0);
  const behind = flags === -1 ? [] : words.slice(flags).map(({ text }) => text);
  return [...splitParts(text.slice(0, end)), ...behind];
}

/** What stands in quotes is one part, the rest the other, as it was typed. */
function splitParts(text: string): readonly string[] {
  const words = readWords(text);
  const [first, last] = [words[0], words.at(-1)];
  if (first?.isQuoted) return [first.text, text.slice(first.end).trim()].filter((part) => part !== "");
  if (last?.isQuoted && /\s/.test(last.text)) return [text.slice(0, last.start).trim(), last.text];
  return text.trim() === "" ? [] : [text.trim()];
}

/** Words as a shell would part them, without anything else that a shell does. */
export function splitWords(text: string): readonly string[] {
  return readWords(text).map((word) => word.text);
}

interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
  readonly start: number;
  readonly end: number;
}

/** Plain, in quotes, or with a value in quotes (`tests="npm test"`). */
function readWords(text: string): readonly Word[] {
  const words: Word[] = [];
  for (let start = skipSpace(text, 0); start < text.length; start = skipSpace(text, words.at(-1)?.end ?? 0)) {
    const plain = /^\S+/.exec(text.slice(start))?.[0] ?? "";
    const [name = ""] = /^[^\s"'=]+=(?:[^\s"'=]+=)?(?=["'])/.exec(plain) ?? [];
    const open = start + name.length;
    const close = closingQuote(text, open);
    words.push(
      close === null
        ? { text: plain, isQuoted: false, start, end: start + plain.length }
        : { text: name + text.slice(open + 1, close), isQuoted: name === "", start, end: close + 1 },
    );
  }
  return words;
}

function skipSpace(text: string, from: number): number {
  const found = text.slice(from).search(/\S/);
  return found === -1 ? text.length : from + found;
}

/** The partner ends a word: the quote of "it's" is none. */
function closingQuote(text: string, open: number): number | null {
  const quote = text.charAt(open);
  if (quote !== '"' && quote !== "'") return null;
  for (let at = text.indexOf(quote, open + 1); at !== -1; at = text.indexOf(quote, at + 1)) {
    if (at + 1 === text.length || /\s/.test(text.charAt(at + 1))) return at;
  }
  return null;
}

function unquote(value: string): string {
  const quoted = /^(["'])([\s\S]*)\1$/.exec(value);
  return quoted?.[2] ?? value;
}
