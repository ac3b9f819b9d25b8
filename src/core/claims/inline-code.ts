/** Inline code that goes over several lines of a paragraph, as CommonMark reads it. */

/**
 * The lines, from 0, that start inside inline code. Where links or definitions may hold the ticks, a line counts if it
 * is code under any reading.
 */
export function continuedCode(texts: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>();
  const first = texts.findIndex((text) => text.includes("`"));
  if (first === -1 || texts.length === 1) return found;
  const text = texts.join("\n");
  const starts: number[] = [];
  for (let at = 0, n = 0; n < texts.length; n++) {
    starts.push(at);
    at += (texts[n]?.length ?? 0) + 1;
  }
  const note = (spans: readonly Span[]) => {
    let line = 0;
    for (const [from, to] of spans)
      for (; line < starts.length && (starts[line] ?? to) < to; line++)
        if ((starts[line] ?? 0) > from) found.add(line);
  };
  note(codeSpans(text, 0, false));
  if (/\][([]/.test(text)) note(codeSpans(text, 0, true));
  if (DEFINITION.test(text)) note(codeSpans(text, starts[1] ?? text.length, false));
  return found;
}

type Span = readonly [from: number, to: number];

const DEFINITION = /^\[(?:[^[\]\\]|\\.){1,999}\]:/s;
const SPECIAL = /[\\`<\]]/g;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const LINK =
  /\]\(\s{0,99}(?:<(?:[^<>\n\\]|\\.){0,500}>|(?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.){0,99}\)){0,500})(?:\s{1,99}(?:"(?:[^"\\]|\\.){0,500}"|'(?:[^'\\]|\\.){0,500}'))?\s{0,99}\)|\]\[(?:[^[\]\\]|\\.){0,500}\]/sy;

function codeSpans(text: string, from: number, withLinks: boolean): readonly Span[] {
  const spans: Span[] = [];
  const closing = closings(text);
  const tags = new TagReader(text);
  for (let at = from; ; ) {
    SPECIAL.lastIndex = at;
    const index = SPECIAL.exec(text)?.index;
    if (index === undefined) return spans;
    const char = text[index];
    at = index + 1;
    if (char === "\\" && PUNCTUATION.test(text[at] ?? "")) at++;
    else if (char === "`") {
      while (text[at] === "`") at++;
      const end = closing(at - index, at);
      if (end === null) continue;
      spans.push([index, end]);
      at = end;
    } else if (char === "<") {
      const end = tags.endAt(index);
      // too much to read: the rest is in doubt
      if (end === null) return [...spans, [index, text.length + 1]];
      if (end !== -1) at = end;
    } else if (char === "]" && withLinks) {
      LINK.lastIndex = index;
      if (LINK.test(text)) at = LINK.lastIndex;
    }
  }
}

/** Finds where the next run of as many ticks ends. Must be asked from left to right. */
function closings(text: string): (length: number, from: number) => number | null {
  const runs = new Map<number, number[]>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const same = runs.get(run.length);
    if (same === undefined) runs.set(run.length, [index]);
    else same.push(index);
  }
  for (const same of runs.values()) same.reverse();
  return (length, from) => {
    const same = runs.get(length) ?? [];
    while ((same.at(-1) ?? from) < from) same.pop();
    const start = same.at(-1);
    return start === undefined ? null : start + length;
  };
}

const AUTOLINK =
  /<(?:[A-Za-z][A-Za-z0-9.+-]{1,31}:[^\s<>\p{Cc}]*|[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*)>/uy;
const NAME = /<[A-Za-z][A-Za-z0-9-]*/y;
const CLOSE = /<\/[A-Za-z][A-Za-z0-9-]*[ \n]*>/y;
const ATTRIBUTE = /[ \n]+[A-Za-z_:][\w.:-]*(?:[ \n]*=[ \n]*(?:[^ \n"'=<>`]+|'[^']*'|"[^"]*"))?/y;
const END = /[ \n]*\/?>/y;
/** Each with what ends it, and from where that is looked for. */
const OTHERS: readonly (readonly [start: string, end: string, from: number])[] = [
  ["<!-->", "<!-->", 0],
  ["<!--->", "<!--->", 0],
  ["<!--", "-->", 4],
  ["<?", "?>", 2],
  ["<![CDATA[", "]]>", 9],
];

/** Reads tags and autolinks of one text. Attributes may hold "<", so the steps are limited. */
class TagReader {
  readonly #text: string;
  readonly #missing = new Set<string>();
  #steps = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** -1: it is none. null: too many steps. */
  endAt(at: number): number | null {
    const auto = matchEnd(AUTOLINK, this.#text, at);
    if (auto !== -1) return auto;
    const other = OTHERS.find(([start]) => this.#text.startsWith(start, at));
    if (other !== undefined) return this.#find(other[1], at + other[2]);
    if (/[A-Za-z]/.test(this.#text[at + 2] ?? "") && this.#text[at + 1] === "!") return this.#find(">", at);
    const [end, read] = readTag(this.#text, at);
    this.#steps += read - at;
    return this.#steps > 16 * this.#text.length + 1000 ? null : end;
  }

  #find(word: string, from: number): number {
    if (this.#missing.has(word)) return -1;
    const index = this.#text.indexOf(word, from);
    if (index === -1) this.#missing.add(word);
    return index === -1 ? -1 : index + word.length;
  }
}

/** The end of an opening or closing tag at this place; -1: there is none. */
export function tagEnd(text: string, at: number): number {
  return readTag(text, at)[0];
}

/** The end of the tag, or -1, and how far it was read. */
function readTag(text: string, at: number): readonly [end: number, read: number] {
  const closed = matchEnd(CLOSE, text, at);
  if (closed !== -1) return [closed, closed];
  let read = matchEnd(NAME, text, at);
  if (read === -1) return [-1, at];
  for (let next = read; next !== -1; next = matchEnd(ATTRIBUTE, text, read)) read = next;
  return [matchEnd(END, text, read), read];
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}
