/**
 * The commands of a shell line, as far as it takes to know which programs it starts and whose exit code it ends with.
 * What stands in quotes, comments and here-documents is text and no command: a commit message may quote one. Never
 * throws, and reads every character once.
 */
export interface ShellCommand {
  /** The first is the program; assignments in front of it and redirections are left out. */
  readonly words: readonly string[];
  /** What joins it to the next: `&&`, `||`, `;`, `|`, `&`, or nothing at the end. */
  readonly end: string;
  readonly isNegated: boolean;
  /** What its substitutions run. */
  readonly inner: readonly ShellCommand[];
}

/** In the order in which they stand; those of a subshell or a group stand in the same row. */
export function readShellLine(line: string): ShellCommand[] {
  return new Reader(line.slice(0, MAX_LETTERS).replaceAll("\r\n", "\n").replaceAll("\\\n", " "), 0).list(
    false,
  );
}

const MAX_LETTERS = 20_000;
const MAX_DEPTH = 20;
const SPACE = /\s/;
const OPERATOR = /&&|\|\||;;|\|&|[;&|]/y;
const REDIRECTION = /(?:\d*|&)(?:<<<|<<-?|<>|<&|>&|>>|>\||<(?!\()|>(?!\())/y;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
/** Words of the shell's own in front of a command. */
const KEYWORDS: ReadonlySet<string> = new Set(
  "! { } if then else elif fi while until do done time exec command builtin".split(" "),
);

class Reader {
  private readonly text: string;
  private depth: number;
  private at = 0;
  private hereDocuments: string[] = [];

  constructor(text: string, depth: number) {
    this.text = text;
    this.depth = depth;
  }

  /** Up to the parenthesis that closes it, or to the end of the text. */
  list(isEnclosed: boolean): ShellCommand[] {
    const row: ShellCommand[] = [];
    let words: string[] = [];
    let inner: ShellCommand[] = [];
    const endCommand = (end: string): void => {
      endWith(row, words, inner, end);
      words = [];
      inner = [];
    };
    while (this.at < this.text.length) {
      const letter = this.text[this.at] ?? "";
      if (letter === "\n") {
        this.at++;
        endCommand(";");
        this.skipHereDocuments();
      } else if (SPACE.test(letter)) this.at++;
      else if (letter === "#") this.skipTo("\n");
      else if (letter === "(") {
        this.at++;
        endCommand("");
        row.push(...this.nested());
      } else if (letter === ")") {
        this.at++;
        if (isEnclosed) break;
        endCommand("");
      } else if (this.take(REDIRECTION) !== null) this.redirect(inner);
      else {
        const operator = this.take(OPERATOR);
        if (operator === null) words.push(this.word(inner));
        else endCommand(operator === "|&" ? "|" : operator === ";;" ? ";" : operator);
      }
    }
    endCommand("");
    return row;
  }

  private taken = "";

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found === undefined) return null;
    this.at += found.length;
    this.taken = found;
    return found;
  }

  private redirect(inner: ShellCommand[]): void {
    const isHereDocument = /<<-?$/.test(this.taken);
    while (this.text[this.at] === " " || this.text[this.at] === "\t") this.at++;
    const target = this.word(inner);
    if (isHereDocument) this.hereDocuments.push(target);
  }

  private skipHereDocuments(): void {
    for (const end of this.hereDocuments) {
      while (this.at < this.text.length) {
        const start = this.at;
        this.skipTo("\n");
        const line = this.text.slice(start, this.at).trim();
        if (line === end) break;
        this.at++;
      }
    }
    this.hereDocuments = [];
  }

  private skipTo(letter: string): void {
    const found = this.text.indexOf(letter, this.at);
    this.at = found === -1 ? this.text.length : found;
  }

  private nested(): ShellCommand[] {
    if (this.depth >= MAX_DEPTH) return [];
    this.depth++;
    const outer = this.hereDocuments;
    this.hereDocuments = [];
    const row = this.list(true);
    this.hereDocuments = outer;
    this.depth--;
    return row;
  }

  /** At least one letter is taken, so that every text has an end. */
  private word(inner: ShellCommand[]): string {
    const start = this.at;
    let word = "";
    while (this.at < this.text.length) {
      const letter = this.text[this.at] ?? "";
      if (/[\s;&|()<>]/.test(letter)) break;
      this.at++;
      if (letter === "\\") word += this.text[this.at++] ?? "";
      else if (letter === "'") word += this.upTo("'");
      else if (letter === '"') word += this.quoted(inner);
      else word += this.substituted(letter, inner);
    }
    if (this.at === start) this.at++;
    return word;
  }

  private quoted(inner: ShellCommand[]): string {
    let text = "";
    while (this.at < this.text.length) {
      const letter = this.text[this.at++] ?? "";
      if (letter === '"') break;
      if (letter === "\\") text += this.text[this.at++] ?? "";
      else text += this.substituted(letter, inner);
    }
    return text;
  }

  private substituted(letter: string, inner: ShellCommand[]): string {
    if (letter === "`" && this.depth < MAX_DEPTH) {
      inner.push(...new Reader(this.upTo("`"), this.depth + 1).list(false));
      return "$()";
    }
    if (letter !== "$" || this.text[this.at] !== "(") return letter;
    this.at++;
    inner.push(...this.nested());
    return "$()";
  }

  private upTo(end: string): string {
    const start = this.at;
    this.skipTo(end);
    return this.text.slice(start, this.at++);
  }
}

/** An operator with no words in front of it belongs to what was closed just before: `(a; b) | c`, `{ a; } | c`. */
function endWith(row: ShellCommand[], written: readonly string[], inner: ShellCommand[], end: string): void {
  const first = written.findIndex((word) => !KEYWORDS.has(word) && !ASSIGNMENT.test(word));
  const words = first === -1 ? [] : written.slice(first);
  const isNegated = (first === -1 ? written : written.slice(0, first)).includes("!");
  if (words.length > 0 || inner.length > 0) {
    row.push({ words, end, isNegated, inner });
    return;
  }
  const last = row.at(-1);
  if (last !== undefined && end !== "" && (end !== ";" || last.end === ""))
    row[row.length - 1] = { ...last, end };
}
