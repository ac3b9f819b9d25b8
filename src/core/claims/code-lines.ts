/**
 * The lines of a message that are code for CommonMark: fenced and indented code, also in list items and quotes, and
 * lines that continue inline code. Tests hold this against micromark.
 *
 * Follows the algorithm of the specification (appendix "A parsing strategy"): a line continues the open containers, then
 * opens new blocks; the rest belongs to the innermost block. The time is linear: each step uses up characters of the
 * line, and a blank line passes all list items at once.
 */
import { continuedCode, tagEnd } from "./inline-code.ts";

/** Parsers differ in what may follow a text at once, so a line is code if it is code for one of them. */
export function codeLines(lines: readonly string[]): Uint8Array {
  const other = readCode(lines, true);
  return readCode(lines, false).map((mark, index) => mark | (other[index] ?? 0));
}

/** Read like the reference implementation, or like micromark. */
export function readCode(lines: readonly string[], likeMicromark: boolean): Uint8Array {
  const reader = new BlockReader(lines.length, likeMicromark);
  lines.forEach((line, index) => {
    reader.read(withoutTabs(index === 0 ? line.replace(/^\ufeff/, "") : line), index);
  });
  reader.closeLeaf();
  return reader.marks;
}

type Leaf =
  | { readonly kind: "paragraph"; readonly first: number; readonly texts: string[] }
  | { readonly kind: "fence"; readonly char: string; readonly length: number }
  /** `endsContainers`: its first line ended containers and opened none. */
  | { readonly kind: "indented"; readonly endsContainers: boolean }
  /** `end`: what ends the block; null: a blank line. */
  | { readonly kind: "html"; readonly end: RegExp | null };

interface Container {
  /** Of a list item: how far its content is indented. null: a quote. */
  readonly width: number | null;
  isEmpty: boolean;
}

/** Deepest indentation of a line that is no code. */
const MOST_INDENT = 3;
const HEADING = /#{1,6}(?: |$)/y;
const FENCE = /(`{3,})[^`]*$|(~{3,})/y;
const UNDERLINE = /(?:=+|-+) *$/y;
const BREAK = /(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/y;
const ITEM = /(?:[*+-]|(\d{1,9})[.)])( *)/y;

class BlockReader {
  readonly marks: Uint8Array;
  readonly #likeMicromark: boolean;
  readonly #containers: Container[] = [];
  /** Where the quotes are in `#containers`. */
  readonly #quotes: number[] = [];
  #leaf: Leaf | null = null;
  #line = "";
  #index = 0;
  #at = 0;
  /** The first character from `#at` on that is no space. */
  #next = 0;
  #endsContainers = false;
  /** From here on the line has one kind of character and spaces; null: not looked up yet. */
  #breakFrom: number | null = null;

  /** `likeMicromark`: a list that starts with another number than "1" follows no text and no code, a tag alone may. */
  constructor(length: number, likeMicromark: boolean) {
    this.marks = new Uint8Array(length);
    this.#likeMicromark = likeMicromark;
  }

  read(line: string, index: number): void {
    this.#line = line;
    this.#index = index;
    this.#next = 0;
    this.#breakFrom = null;
    this.#moveTo(0);
    const matched = this.#matchContainers();
    const isMatched = matched === this.#containers.length;
    const leaf = this.#leaf;
    const followsCode = this.#likeMicromark && leaf?.kind === "indented" && !leaf.endsContainers;
    this.#endsContainers = !isMatched;
    if (isMatched && this.#continuesLeaf()) return;
    /** The line may continue a paragraph, even one in a container that it does not continue. */
    let isPending = this.#leaf?.kind === "paragraph";
    let interrupts = isMatched && (isPending || followsCode);
    if (!isPending) this.#closeTo(matched);
    while (!this.#isBlank()) {
      const open = this.#opening(isPending, isPending && isMatched, interrupts);
      if (open === null) {
        this.#addText(isPending);
        return;
      }
      // micromark keeps a tag alone on its line in the containers of the text
      const isKept = this.#likeMicromark && !isMatched && this.#isLoneTag();
      if (isPending) this.#closeTo(isKept ? this.#containers.length : matched);
      isPending = false;
      interrupts &&= this.#likeMicromark;
      if (open() === "leaf") return;
    }
    if (isPending) this.#closeTo(matched);
  }

  closeLeaf(): void {
    if (this.#leaf?.kind === "paragraph") {
      const { first, texts } = this.#leaf;
      for (const offset of continuedCode(texts)) this.marks[first + offset] = 1;
    }
    this.#leaf = null;
  }

  #matchContainers(): number {
    let quotes = 0;
    for (const [index, { width }] of this.#containers.entries()) {
      if (this.#isBlank()) break;
      if (width !== null) {
        if (this.#indent() < width) return index;
        this.#moveTo(this.#at + width);
      } else {
        if (this.#indent() > MOST_INDENT || this.#line[this.#next] !== ">") return index;
        this.#enterQuote();
        quotes++;
      }
    }
    if (!this.#isBlank()) return this.#containers.length;
    // an item that starts with two blank lines ends; only the innermost can be empty
    const isEmpty = this.#containers.at(-1)?.isEmpty === true;
    return this.#quotes[quotes] ?? this.#containers.length - Number(isEmpty);
  }

  #continuesLeaf(): boolean {
    const leaf = this.#leaf;
    const isBlank = this.#isBlank();
    switch (leaf?.kind) {
      case "fence":
        this.#mark();
        if (this.#closesFence(leaf)) this.#leaf = null;
        return true;
      case "indented":
        if (!isBlank && this.#indent() <= MOST_INDENT) return false;
        // micromark starts a new block of code after a line that ended containers
        if (!isBlank) this.#startIndented();
        return true;
      case "html":
        if (leaf.end === null ? isBlank : leaf.end.test(this.#line.slice(this.#at))) this.#leaf = null;
        return true;
      case "paragraph":
        if (isBlank) this.closeLeaf();
        return isBlank;
      default:
        return false;
    }
  }

  #closesFence({ char, length }: Leaf & { kind: "fence" }): boolean {
    if (this.#indent() > MOST_INDENT) return false;
    let end = this.#next;
    while (this.#line[end] === char) end++;
    return end - this.#next >= length && this.#line.slice(end).trim() === "";
  }

  /** What the line opens; null: nothing, it is text. `isNext`: it is in the same containers as the text above. */
  #opening(isPending: boolean, isNext: boolean, interrupts: boolean): (() => "leaf" | "container") | null {
    if (this.#indent() > MOST_INDENT) return isPending ? null : () => this.#startIndented();
    if (this.#line[this.#next] === ">")
      return () => {
        this.#enterQuote();
        return this.#push(null);
      };
    const [, ticks, tildes] = this.#match(FENCE) ?? [];
    const run = ticks ?? tildes;
    if (run !== undefined)
      return () => this.#start({ kind: "fence", char: run[0] ?? "", length: run.length }, true);
    const html = this.#htmlStart(this.#likeMicromark ? isNext : isPending);
    if (html !== undefined)
      return () => this.#start(html?.test(this.#rest()) ? null : { kind: "html", end: html }, false);
    const isUnderline = isNext && this.#match(UNDERLINE) !== null;
    if (isUnderline || this.#match(HEADING) !== null || this.#isBreak())
      return () => this.#start(null, false);
    return this.#itemStart(interrupts);
  }

  /** The end of the line is looked at once: it may have many markers of list items. */
  #isBreak(): boolean {
    if (this.#breakFrom === null) {
      const text = this.#line.trimEnd();
      let from = text.length - 1;
      while (from > 0 && (text[from - 1] === text.at(-1) || text[from - 1] === " ")) from--;
      this.#breakFrom = from;
    }
    return this.#next >= this.#breakFrom && this.#match(BREAK) !== null;
  }

  #itemStart(interrupts: boolean): (() => "container") | null {
    const [marker, number, spaces = ""] = this.#match(ITEM) ?? [];
    if (marker === undefined) return null;
    const end = this.#next + marker.length;
    const isBlank = end >= this.#line.length;
    if (spaces === "" && !isBlank) return null;
    const isFirst = this.#likeMicromark ? number === "1" : Number(number) === 1;
    if (interrupts && (isBlank || (number !== undefined && !isFirst))) return null;
    const taken = isBlank || spaces.length > 4 ? 1 : spaces.length;
    const sign = marker.length - spaces.length;
    return () => {
      const width = this.#indent() + sign + taken;
      this.#moveTo(Math.min(this.#next + sign + taken, this.#line.length));
      return this.#push(width);
    };
  }

  /** undefined: no HTML. Otherwise what ends it. */
  #htmlStart(isPending: boolean): RegExp | null | undefined {
    if (this.#line[this.#next] !== "<") return undefined;
    const rest = this.#rest();
    const found = HTML.find(([start]) => start.test(rest));
    if (found !== undefined) return found[1];
    return !isPending && this.#isLoneTag() ? null : undefined;
  }

  #isLoneTag(): boolean {
    const rest = this.#rest();
    if (!rest.startsWith("<") || HTML.some(([start]) => start.test(rest))) return false;
    const end = tagEnd(rest, 0);
    return end !== -1 && rest.slice(end).trim() === "";
  }

  #startIndented(): "leaf" {
    return this.#start({ kind: "indented", endsContainers: this.#endsContainers }, true);
  }

  #start(leaf: Leaf | null, isCode: boolean): "leaf" {
    this.#fill();
    this.#leaf = leaf;
    if (isCode) this.#mark();
    return "leaf";
  }

  #push(width: number | null): "container" {
    this.#fill();
    this.#endsContainers = false;
    if (width === null) this.#quotes.push(this.#containers.length);
    this.#containers.push({ width, isEmpty: width !== null });
    return "container";
  }

  #addText(isPending: boolean): void {
    if (isPending && this.#leaf?.kind === "paragraph") this.#leaf.texts.push(this.#rest());
    else this.#start({ kind: "paragraph", first: this.#index, texts: [this.#rest()] }, false);
  }

  #closeTo(depth: number): void {
    this.closeLeaf();
    this.#containers.length = Math.min(this.#containers.length, depth);
    while ((this.#quotes.at(-1) ?? -1) >= depth) this.#quotes.pop();
  }

  #fill(): void {
    const last = this.#containers.at(-1);
    if (last !== undefined) last.isEmpty = false;
  }

  #enterQuote(): void {
    const at = this.#next + 1;
    this.#moveTo(this.#line[at] === " " ? at + 1 : at);
  }

  #moveTo(at: number): void {
    this.#at = at;
    this.#next = Math.max(this.#next, at);
    while (this.#line[this.#next] === " ") this.#next++;
  }

  #isBlank(): boolean {
    return this.#next >= this.#line.length;
  }

  #indent(): number {
    return this.#next - this.#at;
  }

  #rest(): string {
    return this.#line.slice(this.#next);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#next;
    return pattern.exec(this.#line);
  }

  #mark(): void {
    this.marks[this.#index] = 1;
  }
}

/** HTML blocks by how they start and end. A tag alone on its line is one too. */
const HTML: readonly (readonly [start: RegExp, end: RegExp | null])[] = [
  [/^<(?:script|pre|textarea|style)(?:[ >]|$)/i, /<\/(?:script|pre|textarea|style)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![A-Za-z]/, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [
    /^<\/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?: |\/?>|$)/i,
    null,
  ],
];

/** A tab goes to the next column that is a multiple of 4. */
function withoutTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let column = 0;
  return line
    .split("\t")
    .map((part, index, parts) => {
      column += part.length;
      const pad = index === parts.length - 1 ? 0 : 4 - (column % 4);
      column += pad;
      return part + " ".repeat(pad);
    })
    .join("");
}
