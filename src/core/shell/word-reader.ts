/** Reads the words of a shell line: quotes, escapes, expansions and substitutions. */
import type { ShellCommand, ShellPart } from "./command.ts";
import { readAnsiC } from "./quoting.ts";

export const WORD_END = /[\s;&|()<>]/;
const ARRAY = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=$/;
const MAX_DEPTH = 50;
/** Limit on letters that are read to tell `((a + b))` from two subshells. */
const MAX_LOOKED_AT = 1_000_000;

export abstract class WordReader {
  protected readonly text: string;
  protected depth: number;
  protected at = 0;
  private lookedAt = 0;

  constructor(text: string, depth: number) {
    this.text = text;
    this.depth = depth;
  }

  /** The commands up to the closing parenthesis, or to the end of the text. */
  abstract list(isEnclosed: boolean): ShellPart[];
  /** The commands of another text. */
  protected abstract listOf(text: string): ShellPart[];
  /** Where the commands of a substitution are added. */
  protected abstract place(): { readonly found: ShellPart[]; readonly inner: ShellCommand[] };

  protected take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found === undefined) return null;
    this.at += found.length;
    return found;
  }

  protected skipTo(letter: string): void {
    const found = this.text.indexOf(letter, this.at);
    this.at = found === -1 ? this.text.length : found;
  }

  /** Takes at least one letter, so that reading ends. */
  protected word(): string {
    let word = "";
    const start = this.at;
    while (this.at < this.text.length) {
      const character = this.text[this.at] ?? "";
      if (WORD_END.test(character)) {
        const isProcess = /[<>]/.test(character) && this.text[this.at + 1] === "(";
        if (character === "(" && ARRAY.test(word)) word += this.array();
        else if (isProcess) {
          this.at += 2;
          word += this.substitution();
        } else break;
        continue;
      }
      this.at++;
      if (character === "\\") word += this.escaped();
      else if (character === "'") word += this.upTo("'");
      else if (character === '"') word += this.quoted();
      else word += this.expansion(character, false);
    }
    if (this.at === start) this.at++;
    return word;
  }

  private escaped(): string {
    const next = this.text[this.at++] ?? "";
    return next === "\n" ? "" : next;
  }

  private upTo(end: string): string {
    const start = this.at;
    this.skipTo(end);
    return this.text.slice(start, this.at++);
  }

  private quoted(): string {
    let text = "";
    while (this.at < this.text.length) {
      const character = this.text[this.at++] ?? "";
      if (character === '"') break;
      if (character === "\\") {
        const next = this.escaped();
        text += next === "" || /["\\$`]/.test(next) ? next : `\\${next}`;
      } else text += this.expansion(character, true);
    }
    return text;
  }

  /** `a=(x y)` */
  private array(): string {
    const words: string[] = [];
    if (this.isTooDeep()) return "";
    this.at++;
    this.depth++;
    while (this.at < this.text.length && this.text[this.at] !== ")") {
      if (this.text[this.at] === "#") this.skipTo("\n");
      else if (WORD_END.test(this.text[this.at] ?? "")) this.at++;
      else words.push(this.word());
    }
    this.at++;
    this.depth--;
    return words.join(" ");
  }

  /** Reads what a `$` or a backquote starts. Its output is unknown, so it becomes `$()`. */
  private expansion(character: string, isQuoted: boolean): string {
    if (character === "`") return this.nested(() => this.listOf(this.backquoted()));
    if (character !== "$") return character;
    const next = this.text[this.at];
    if (next === "(") return this.dollarParenthesis();
    if (next === "{") return this.parameter();
    if (isQuoted || (next !== "'" && next !== '"')) return "$";
    this.at++;
    if (next === '"') return this.quoted();
    const { text, end } = readAnsiC(this.text, this.at);
    this.at = end;
    return text;
  }

  private dollarParenthesis(): string {
    if (this.takeArithmetic(() => true)) return "$()";
    this.at++;
    return this.substitution();
  }

  /** Reads `((…))` with its substitutions. If it is not arithmetic, nothing is taken. */
  protected takeArithmetic(isArithmetic: (text: string) => boolean): boolean {
    const { at: start, depth } = this;
    const { found, inner } = this.place();
    const [parts, commands] = [found.length, inner.length];
    if (!this.text.startsWith("((", start) || depth >= MAX_DEPTH || this.lookedAt > MAX_LOOKED_AT)
      return false;
    this.at += 2;
    this.depth++;
    this.scan((open) => open === 0 && this.text[this.at] === ")");
    this.depth = depth;
    if (this.text.startsWith("))", this.at) && isArithmetic(this.text.slice(start + 2, this.at))) {
      this.at += 2;
      return true;
    }
    this.lookedAt += this.at - start;
    found.length = parts;
    inner.length = commands;
    this.at = start;
    return false;
  }

  private substitution(): string {
    return this.nested(() => this.list(true));
  }

  private nested(read: () => ShellPart[]): string {
    const { found, inner } = this.place();
    if (this.isTooDeep()) return "$()";
    this.depth++;
    const parts = read();
    this.depth--;
    found.push({ kind: "open", isSubstitution: true });
    for (const part of parts) {
      found.push(part);
      if (part.kind === "command") inner.push(part.command);
    }
    found.push({ kind: "close", end: "" });
    return "$()";
  }

  /** Real lines are not nested so deep: the rest is not read. */
  private isTooDeep(): boolean {
    if (this.depth < MAX_DEPTH) return false;
    this.at = this.text.length;
    return true;
  }

  private backquoted(): string {
    const start = this.at;
    while (this.at < this.text.length && this.text[this.at] !== "`") {
      this.at += this.text[this.at] === "\\" ? 2 : 1;
    }
    return this.text.slice(start, this.at++).replaceAll(/\\([\\$`])/g, "$1");
  }

  /** `${name:-$(npm test)}` stays unchanged. */
  private parameter(): string {
    const start = this.at - 1;
    if (this.isTooDeep()) return "${";
    this.at++;
    this.depth++;
    while (this.at < this.text.length) {
      const character = this.text[this.at++] ?? "";
      if (character === "}") break;
      if (character === "\\") this.at++;
      else if (character === '"') this.quoted();
      else this.expansion(character, false);
    }
    this.depth--;
    return this.text.slice(start, this.at);
  }

  /** Reads text in which only substitutions are commands. `open` counts the open parentheses. */
  protected scan(isEnd: (open: number) => boolean): void {
    let open = 0;
    while (this.at < this.text.length && !isEnd(open)) {
      const character = this.text[this.at++] ?? "";
      if (character === "(") open++;
      else if (character === ")") open--;
      if (character === "\\") this.at++;
      else this.expansion(character, true);
    }
  }
}
