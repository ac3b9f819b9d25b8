/**
 * What a person types behind `/loop` in a conversation, as the words of the command line. There is no shell in
 * between: quotes group words where they come in pairs, and stand for themselves in a prompt.
 */

export interface TypedLine {
  /** The first word, when it is a command of ours; null: an interval and a prompt. */
  readonly command: string | null;
  readonly argv: readonly string[];
}

export function parseTypedLine(text: string, commands: ReadonlySet<string>): TypedLine {
  const line = text.trim();
  const [, first = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = first.toLowerCase();
  if (!commands.has(command)) return { command: null, argv: [...splitFlags(line)] };
  if (command === "until" || command === "score") return { command, argv: [command, ...splitSpec(rest)] };
  return { command, argv: [command, ...(splitWords(rest) ?? rest.split(/\s+/).filter(Boolean))] };
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
    rest = rest
      .slice(isPair && value !== undefined ? whole.length : whole.indexOf(name) + name.length)
      .trimStart();
  }
  return rest === "" ? words : [...words, rest];
}

const FLAG = /^(--[a-z][a-z-]*)(?:[=\s]+("[^"]*"|'[^']*'|\S+))?/;
const VALUED: ReadonlySet<string> = new Set(
  "--cron --tz --expires --missed --grace --expect --alert-after --timeout --in --agent --agent-cmd".split(
    " ",
  ),
);

/** `until "npm test passes" fix it` has two parts; without quotes all of it is what must become true. */
function splitSpec(text: string): readonly string[] {
  const words = splitWords(text);
  const hasMarks = /(^|\s)(?:--[a-z]|["'])/.test(text);
  if (words === null || !hasMarks) return text.trim() === "" ? [] : [text.trim()];
  if (/(^|\s)["']/.test(text)) return words;
  // flags, and plain words that belong together
  const flags = words.findIndex((word) => word.startsWith("--"));
  const spec = words.slice(0, flags).join(" ");
  return spec === "" ? words : [spec, ...words.slice(flags)];
}

/** Words as a shell would part them, without anything else that a shell does; null: a quote has no partner. */
export function splitWords(text: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (const letter of text) {
    if (quote !== null) {
      if (letter === quote) quote = null;
      else word = (word ?? "") + letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= "";
    } else if (/\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + letter;
  }
  if (quote !== null) return null;
  return word === null ? words : [...words, word];
}

function unquote(value: string): string {
  const quoted = /^(["'])([\s\S]*)\1$/.exec(value);
  return quoted?.[2] ?? value;
}
