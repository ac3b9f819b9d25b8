/**
 * Splits the text that a person types after our command in a conversation into command-line words. No shell is involved:
 * a pair of quotes groups words, and any other quote is literal ("don't").
 */
interface TypedLine {
  /** The first word, if it is one of our commands; null: an interval and a prompt. */
  readonly command: string | null;
  /** A prompt follows `--`, so that it may begin with a dash. */
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

/** "Pause" is a command; "Clear the cache every hour" is a prompt. */
function commandOf(first: string, rest: string, commands: ReadonlySet<string>): string | null {
  if (commands.has(first)) return first;
  const lower = first.toLowerCase();
  const isMeant = lower === "until" || lower === "score" || /^(?:[0-9a-f]{1,8})?$/i.test(rest);
  return isMeant && commands.has(lower) ? lower : null;
}

/** Leading flags become separate words. The prompt after them stays unchanged, with its line breaks. */
function splitFlags(line: string): readonly string[] {
  const words: string[] = [];
  let rest = line;
  for (let found = FLAG.exec(rest); found !== null; found = FLAG.exec(rest)) {
    const [whole, name = "", typed] = found;
    // only these flags take a value; a prompt may follow the others
    const value = VALUED.has(name) ? typed : undefined;
    words.push(name, ...(value === undefined ? [] : [unquote(value)]));
    rest = rest.slice(value === undefined ? name.length : whole.length).trimStart();
  }
  return rest === "" ? words : [...words, "--", rest];
}

const FLAG = /^(--[a-z][a-z-]*)(?:[=\s]+("[^"]*"|'[^']*'|\S+))?/;
const VALUED: ReadonlySet<string> = new Set(
  "--cron --tz --expires --missed --grace --expect --alert-after --timeout --in --prompt-file --agent --agent-cmd".split(
    " ",
  ),
);

/** `until "npm test passes" fix it` has two parts. Without quotes there is one part. */
function splitSpec(text: string): readonly string[] {
  const words = readWords(text);
  const flag = words.find(({ text, isQuoted }) => !isQuoted && /^--[a-z]/.test(text));
  const end = flag?.start ?? text.length;
  const behind = words.filter(({ start }) => start >= end).map(({ text }) => text);
  return [...splitParts(text.slice(0, end)), ...behind];
}

/** The quoted text is one part, and the rest is the other. */
function splitParts(text: string): readonly string[] {
  const words = readWords(text);
  const [first, last] = [words[0], words.at(-1)];
  if (first?.isQuoted) return [first.text, text.slice(first.end).trim()].filter((part) => part !== "");
  if (last?.isQuoted && /\s/.test(last.text)) return [text.slice(0, last.start).trim(), last.text];
  return text.trim() === "" ? [] : [text.trim()];
}

/** Splits words as a shell does, and does nothing else. */
export function splitWords(text: string): readonly string[] {
  return readWords(text).map((word) => word.text);
}

interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
  readonly start: number;
  readonly end: number;
}

/** A word is plain, quoted, or has a quoted value (`tests="npm test"`). */
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

/** A closing quote ends a word: the quote in "it's" does not close. */
function closingQuote(text: string, open: number): number | null {
  const quote = text.charAt(open);
  if (quote !== '"' && quote !== "'") return null;
  for (let at = text.indexOf(quote, open + 1); at !== -1; at = text.indexOf(quote, at + 1)) {
    if (at + 1 === text.length || /\s/.test(text.charAt(at + 1))) return at;
  }
  return null;
}

function unquote(value: string): string {
  return /^(["'])([\s\S]*)\1$/.exec(value)?.[2] ?? value;
}
