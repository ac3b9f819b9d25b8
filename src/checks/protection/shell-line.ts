/**
 * Reads a shell line as far as needed to know which programs it starts with which words. Not a shell: a word that
 * only the shell can know keeps its `$`. What stands in a subshell, a group, a substitution or behind a keyword is
 * found as well. Never throws: what is no shell at all gives odd words.
 */
export interface SimpleCommand {
  /** Words of the shell's own in front of it, as `if` and `!`; it can have nothing else, as at a `fi`. */
  readonly keywords: readonly string[];
  readonly assignments: readonly { readonly name: string; readonly value: string }[];
  /** The first is the program. */
  readonly words: readonly string[];
  /** Files that it reads from, and that it writes to. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** What follows it: `&&`, `||`, `;` and the like. */
  readonly end: string;
  /** The commands in its substitutions, which stand in front of it as parts too. */
  readonly inner: readonly SimpleCommand[];
}

/** `open` and `close`: a subshell, which has a working folder of its own. */
export type ShellPart =
  | { readonly kind: "command"; readonly command: SimpleCommand }
  | { readonly kind: "open"; readonly isSubstitution: boolean }
  | { readonly kind: "close" };

/** In the order in which they stand. */
export function parseShellLine(line: string): ShellPart[] {
  return new Reader(line).parts();
}

/** Words in front of a command that are the shell's own. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "!",
  "{",
  "}",
  "if",
  "then",
  "else",
  "elif",
  "fi",
  "while",
  "until",
  "do",
  "done",
  "time",
  "exec",
  "command",
  "builtin",
]);
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=([\s\S]*)$/;
const MAX_CHARACTERS = 256 * 1024;
const MAX_DEPTH = 50;

class Reader {
  private readonly text: string;
  private readonly depth: number;
  private at = 0;
  private readonly found: ShellPart[] = [];
  private words: string[] = [];
  private inputs: string[] = [];
  private outputs: string[] = [];
  private substituted: SimpleCommand[] = [];
  private hereDocuments: string[] = [];

  constructor(text: string, depth = 0) {
    this.depth = depth;
    this.text = text.slice(0, MAX_CHARACTERS).replaceAll("\\\n", " ");
  }

  parts(): ShellPart[] {
    while (this.at < this.text.length) this.step();
    this.endCommand("");
    return this.found;
  }

  private step(): void {
    const character = this.text[this.at] ?? "";
    if (character === "\n") {
      this.at++;
      this.endCommand(";");
      this.skipHereDocuments();
    } else if (/\s/.test(character)) this.at++;
    else if (character === "#") this.skipComment();
    else if (/[;&|()]/.test(character) && !this.text.startsWith("&>", this.at)) {
      const isDouble = /[&|]/.test(character) && this.text[this.at + 1] === character;
      const operator = isDouble ? character + character : character;
      this.at += operator.length;
      this.endCommand(operator);
      if (character === "(") this.found.push({ kind: "open", isSubstitution: false });
      if (character === ")") this.found.push({ kind: "close" });
    } else if (/^(?:\d*|&)[<>]/.test(this.text.slice(this.at, this.at + 4))) this.redirection();
    else this.words.push(this.word());
  }

  private skipComment(): void {
    while (this.at < this.text.length && this.text[this.at] !== "\n") this.at++;
  }

  private redirection(): void {
    const [operator = ""] =
      /^(?:\d*|&)(?:<<<|<<-?|<>|<&|>&|>>|>\||<|>)/.exec(this.text.slice(this.at, this.at + 8)) ?? [];
    if (/^[<>]\(/.test(this.text.slice(this.at, this.at + 2))) {
      // a substitution of processes: the parenthesis ends this command and starts the inner one
      this.at++;
      return;
    }
    this.at += operator.length;
    while (this.text[this.at] === " " || this.text[this.at] === "\t") this.at++;
    const target = this.word();
    if (operator.endsWith("<<") || operator.endsWith("<<-")) this.hereDocuments.push(target);
    else if (operator.endsWith("<")) this.inputs.push(target);
    else if (operator.includes(">")) this.outputs.push(target);
  }

  private skipHereDocuments(): void {
    for (const end of this.hereDocuments) {
      while (this.at < this.text.length) {
        const newline = this.text.indexOf("\n", this.at);
        const line = this.text.slice(this.at, newline === -1 ? undefined : newline);
        this.at = newline === -1 ? this.text.length : newline + 1;
        if (line.trimStart() === end) break;
      }
    }
    this.hereDocuments = [];
  }

  /** At least one character is taken, so that every text has an end. */
  private word(): string {
    let word = "";
    const start = this.at;
    while (this.at < this.text.length) {
      const character = this.text[this.at] ?? "";
      if (/[\s;&|()<>]/.test(character)) break;
      this.at++;
      if (character === "\\") word += this.text[this.at++] ?? "";
      else if (character === "'") word += this.upTo("'");
      else if (character === '"') word += this.quoted();
      else if (character === "`") word += this.inner(this.upTo("`"));
      else if (character === "$" && this.text[this.at] === "(") word += this.substitution();
      else word += character;
    }
    if (this.at === start) this.at++;
    return word;
  }

  private upTo(end: string): string {
    const found = this.text.indexOf(end, this.at);
    const text = this.text.slice(this.at, found === -1 ? undefined : found);
    this.at = found === -1 ? this.text.length : found + 1;
    return text;
  }

  private quoted(): string {
    let text = "";
    while (this.at < this.text.length) {
      const character = this.text[this.at++] ?? "";
      if (character === '"') break;
      if (character === "\\") {
        const next = this.text[this.at++] ?? "";
        text += /["\\$`\n]/.test(next) ? next : `\\${next}`;
      } else if (character === "`") text += this.inner(this.upTo("`"));
      else if (character === "$" && this.text[this.at] === "(") text += this.substitution();
      else text += character;
    }
    return text;
  }

  private substitution(): string {
    const start = ++this.at;
    for (let depth = 1; this.at < this.text.length; this.at++) {
      const character = this.text[this.at];
      if (character === "\\") this.at++;
      else if (character === "'" || character === '"') {
        const end = this.text.indexOf(character, this.at + 1);
        if (end === -1) break;
        this.at = end;
      } else if (character === "(") depth++;
      else if (character === ")" && --depth === 0) break;
    }
    const text = this.text.slice(start, this.at);
    this.at++;
    return this.inner(text);
  }

  /** What a substitution runs is found; what it prints is not known. */
  private inner(text: string): string {
    const isArithmetic = text.startsWith("(");
    if (!isArithmetic && this.depth < MAX_DEPTH) {
      const parts = new Reader(text, this.depth + 1).parts();
      this.found.push({ kind: "open", isSubstitution: true }, ...parts, { kind: "close" });
      for (const part of parts) if (part.kind === "command") this.substituted.push(part.command);
    }
    return "$()";
  }

  private endCommand(end: string): void {
    const words = [...this.words];
    const keywords: string[] = [];
    const assignments: { name: string; value: string }[] = [];
    for (let word = words[0]; word !== undefined; word = words[0]) {
      const [, name, value] = ASSIGNMENT.exec(word) ?? [];
      if (name !== undefined && value !== undefined) assignments.push({ name, value });
      else if (KEYWORDS.has(word)) keywords.push(word);
      else break;
      words.shift();
    }
    const { inputs, outputs, substituted: inner } = this;
    if (words.length + keywords.length + assignments.length + inputs.length + outputs.length > 0) {
      const command = { keywords, assignments, words, inputs, outputs, end, inner };
      this.found.push({ kind: "command", command });
    }
    this.words = [];
    this.inputs = [];
    this.outputs = [];
    this.substituted = [];
  }
}
