/** Random Markdown, and what micromark calls code in it. */
import { parse, postprocess, preprocess } from "micromark";

/** The lines, from 0, that micromark calls code. Blank lines are left out. */
export function codeByMicromark(text: string, lines: readonly string[]): ReadonlySet<number> {
  const events = postprocess(
    parse()
      .document()
      .write(preprocess()(text, null, true)),
  );
  const code = new Set<number>();
  for (const [kind, { type, start, end }] of events) {
    if (kind !== "enter" || !/^code(?:Fenced|Indented|Text)$/.test(type)) continue;
    // inline code: only the lines that it continues on
    const first = type === "codeText" ? start.line : start.line - 1;
    const last = end.column === 1 && end.line > start.line ? end.line - 2 : end.line - 1;
    for (let line = first; line <= last; line++) if (!isEmpty(lines[line] ?? "")) code.add(line);
  }
  return code;
}

/** Nothing but the marks of quotes: parsers differ in whether such a line ends code. */
export function isEmpty(line: string): boolean {
  return /^[ \t>]*$/.test(line);
}

/** Numbers from 0 to 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PREFIXES = [
  "",
  " ",
  "  ",
  "   ",
  "    ",
  "     ",
  "      ",
  "\t",
  " \t",
  "> ",
  ">",
  ">\t",
  " > ",
  "- ",
  "-",
];
const MARKERS = ["* ", "+ ", "-   ", "-     ", "-\t", "1. ", "1.", "1) ", "1.\t"];
/** Where micromark and the reference implementation differ: such a list after text, such a tag after a quote's text. */
const DISPUTED = {
  markers: ["2) ", "10. ", "0. ", "01. ", "000000001. ", "123456789. "],
  tags: ["<b>", "</b >", "<b c>", "<b c='`'>", '<b c="', "<b", "<i/>", "<pre/>", "</pre>", "</script>"],
};
const TICKS = ["```", "````", "```js", "``` a`", "```` ", "~~~", "~~~~", "~~~ a", "~~", "``", "`"];
const SPANS = ["`a`", "a `", "` b", "a ` b", "``a`", "\\`", "\\\\`", "a\\", "``` a ```", "`` ` ``", "a``"];
const TAGS = [
  "<div>",
  "</div>",
  "<pre>",
  "</pre>",
  "x <b>",
  "x </b >",
  "x <b c>",
  "x <b c='`'>",
  "x <b c=`>",
];
const OPEN_TAGS = [
  "x <b",
  "c='`",
  "'>",
  'x <b c="',
  '">',
  "x <i/>",
  "<script",
  "</script>",
  "<p",
  "<li>x",
  "<style>",
];
const OTHERS = [
  "<!--",
  "-->",
  "<!-->",
  "<!--->",
  "<!-- ` -->",
  "<?",
  "?>",
  "<!X",
  "<![CDATA[",
  "]]>",
  "<!x `>",
];
const LINKS = ["<http://a`b>", "<a@b.c>", "<a`@b.c>", "<a:`", "<x:", ">", "<", "&lt;"];
const BLOCKS = ["# a", "#", "#a", "---", "- - -", "***", "* * *", "_ _ _", "===", "=", "--", "----", "====="];
const WORDS = ["", "", "", "a", "a b", "c.", "1", "a\tb"];

export type Pick = <T>(from: readonly T[]) => T;

export function pickWith(random: () => number): Pick {
  return <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
}

/** A few lines; `claims` are lines that appear in between. */
export function randomMarkdown(random: () => number, claims: readonly string[], isDisputed: boolean): string {
  const pick = pickWith(random);
  const markers = isDisputed ? [...MARKERS, ...DISPUTED.markers] : MARKERS;
  const tags = isDisputed ? DISPUTED.tags : TAGS;
  const bodies = [
    TICKS,
    TICKS,
    SPANS,
    SPANS,
    TAGS,
    tags,
    OPEN_TAGS,
    OTHERS,
    LINKS,
    BLOCKS,
    WORDS,
    WORDS,
    claims,
  ];
  const count = 1 + Math.floor(random() * 9);
  let text = "";
  for (let line = 0; line < count; line++) {
    for (let depth = Math.floor(random() ** 2 * 4); depth > 0; depth--)
      text += random() < 0.7 ? pick(PREFIXES) : pick(markers);
    text += pick(pick(bodies));
    if (random() < 0.3) text += pick([" ", "", "\t"]) + pick(pick(bodies));
    text += pick(["\n", "\n", "\n", "\n", "\n", "\n\n", "\r\n", "\r"]);
  }
  return text;
}
