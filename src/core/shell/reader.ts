/**
 * The reader of shell lines: which programs a line starts, with which words, and how they are joined. A word that only
 * a running shell can know keeps its `$`.
 *
 * 1. It finds every command that the shell may run, also in subshells, groups, functions, substitutions, arithmetic,
 *    here-documents and branches. Protection relies on it.
 * 2. Text in quotes, comments, patterns and here-documents is not a command.
 * 3. It never throws, and reads every letter a limited number of times.
 */
import type { ShellCommand, ShellPart } from "./command.ts";
import { looksArithmetic } from "./quoting.ts";
import { WORD_END, WordReader } from "./word-reader.ts";

export function readShellLine(line: string): ShellPart[] {
  return new Reader(line.slice(0, MAX_CHARACTERS).replaceAll("\r\n", "\n"), 0).list(false);
}

const MAX_CHARACTERS = 256 * 1024;

const KEYWORDS: ReadonlySet<string> = new Set(
  "! { } if then else elif fi while until do done time exec command builtin coproc function esac".split(" "),
);
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=([\s\S]*)$/;
const OPERATOR = /&&|\|\||;;&|;;|;&|\|&|[;&|]/y;
const REDIRECTION = /(?:\d*|&|\{[A-Za-z_]\w*\})(?:<<<|<<-?|<>|<&|>&|>>|>\||<(?!\()|>(?!\())/y;
const SPACE = /\s/;

/** Text to skip after some keywords: their flags, and names that are not programs. */
const BEHIND_KEYWORD: Readonly<Record<string, RegExp>> = {
  time: /(?:[ \t]+-(?:[fo][ \t]+\S+|[\w-]*))+/y,
  exec: /(?:[ \t]+-(?:a[ \t]+\S+|[cl]+))+/y,
  command: /(?:[ \t]+-p)+/y,
  coproc: /[ \t]+[A-Za-z_]\w*(?=[ \t]*\(|[ \t]+(?:\{\s|\[\[|(?:while|until|if|for|case|select)\s))/y,
  function: /[ \t]+[^\s(){};&|<>]+(?:[ \t]*\(\s*\))?/y,
};
const PARENTHESES = /[ \t]*\(\s*\)/y;
/** `command -v npm` only looks for a program. */
const ASKING = /[ \t]+-[vV]/y;

interface HereDocument {
  readonly end: string;
  readonly isQuoted: boolean;
  readonly hasTabs: boolean;
}

/** The state of the list of commands that is being read. */
interface Level {
  readonly found: ShellPart[];
  /** Open parentheses and `case` commands. */
  readonly open: ("subshell" | "case")[];
  hereDocuments: HereDocument[];
  current: Current;
}

/** A command that is being read: its lists grow. */
type Current = { readonly [List in Exclude<keyof ShellCommand, "end">]: ShellCommand[List][number][] };

class Reader extends WordReader {
  private level = createLevel();

  list(isEnclosed: boolean): ShellPart[] {
    const outer = this.level;
    const level = createLevel();
    this.level = level;
    while (this.at < this.text.length && !(isEnclosed && this.isClosed())) this.step();
    this.at++;
    this.endCommand("");
    this.level = outer;
    return level.found;
  }

  private isClosed(): boolean {
    return this.text[this.at] === ")" && this.level.open.length === 0;
  }

  private step(): void {
    const character = this.text[this.at] ?? "";
    if (character === "\n") {
      this.at++;
      this.endCommand(";");
      this.readHereDocuments();
    } else if (SPACE.test(character)) this.at++;
    else if (this.text.startsWith("\\\n", this.at)) this.at += 2;
    else if (character === "#") this.skipTo("\n");
    else if (character === "(") this.openParenthesis();
    else if (character === ")") this.closeParenthesis();
    else {
      const redirection = this.take(REDIRECTION);
      const operator = redirection === null ? this.take(OPERATOR) : null;
      if (redirection !== null) this.redirect(redirection);
      else if (operator !== null) this.operate(operator);
      else this.readWord();
    }
  }

  private openParenthesis(): void {
    const { words } = this.level.current;
    const isLoop = words[0] === "for" || words[0] === "select";
    if (this.takeArithmetic((text) => isLoop || looksArithmetic(text))) {
      if (words.length === 0) words.push("let");
      return;
    }
    this.at++;
    this.endCommand("(");
    this.level.found.push({ kind: "open", isSubstitution: false });
    this.level.open.push("subshell");
  }

  private closeParenthesis(): void {
    this.at++;
    this.endCommand(")");
    if (this.level.open.at(-1) !== "subshell") return;
    this.level.open.pop();
    this.level.found.push({ kind: "close", end: "" });
  }

  private operate(operator: string): void {
    const isCaseEnd = operator.startsWith(";") && operator !== ";";
    this.endCommand(isCaseEnd ? ";" : operator === "|&" ? "|" : operator);
    if (isCaseEnd && this.level.open.at(-1) === "case") this.skipPatterns();
  }

  private redirect(operator: string): void {
    while (/[ \t]/.test(this.text[this.at] ?? "")) this.at++;
    const start = this.at;
    const target = this.word();
    const { inputs, outputs } = this.level.current;
    if (/(?<!<)<<-?$/.test(operator)) {
      const isQuoted = /["'\\]/.test(this.text.slice(start, this.at));
      this.level.hereDocuments.push({ end: target, isQuoted, hasTabs: operator.endsWith("-") });
    } else if (operator.endsWith("<")) {
      if (!operator.endsWith("<<<")) inputs.push(target);
    } else if (operator.includes(">")) outputs.push(target);
  }

  private readHereDocuments(): void {
    const documents = this.level.hereDocuments;
    this.level.hereDocuments = [];
    for (const { end, isQuoted, hasTabs } of documents) {
      const start = this.at;
      let bodyEnd = this.at;
      while (this.at < this.text.length) {
        bodyEnd = this.at;
        this.skipTo("\n");
        const line = this.text.slice(bodyEnd, this.at++);
        if ((hasTabs ? line.replace(/^\t+/, "") : line) === end) break;
        bodyEnd = this.at;
      }
      const after = this.at;
      if (isQuoted) continue;
      this.at = start;
      this.scan(() => this.at >= bodyEnd);
      this.at = after;
    }
  }

  /** The first word of a command can be an assignment, a keyword or a function. */
  private readWord(): void {
    const { current } = this.level;
    const start = this.at;
    const word = this.word();
    const raw = this.text.slice(start, this.at);
    if (current.words.length > 0) current.words.push(word);
    else if (ASSIGNMENT.test(raw)) {
      const [, name = "", value = ""] = ASSIGNMENT.exec(word) ?? [];
      current.assignments.push({ name, value });
    } else if (raw !== word) current.words.push(word);
    else if (word === "case") this.openCase();
    else if (word === "[[") this.readCondition();
    else if (KEYWORDS.has(word) && !(word === "command" && this.isNext(ASKING))) this.keyword(word);
    // `name()` starts a function; its body follows.
    else if (this.take(PARENTHESES) === null) current.words.push(word);
  }

  private isNext(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }

  private keyword(word: string): void {
    this.level.current.keywords.push(word);
    const behind = BEHIND_KEYWORD[word];
    if (behind !== undefined) this.take(behind);
    if (word === "esac" && this.level.open.at(-1) === "case") this.level.open.pop();
  }

  private openCase(): void {
    while (SPACE.test(this.text[this.at] ?? "")) this.at++;
    this.level.current.words.push("case", this.word());
    this.endCommand(";");
    this.level.open.push("case");
    this.take(/\s+in(?=\s)/y);
    this.skipPatterns();
  }

  /** The pattern `a | b)` before a branch of `case`. */
  private skipPatterns(): void {
    this.take(/(?:\s|#[^\n]*\n|;)*/y);
    if (this.isNext(/esac(?![^\s;&|()<>])/y)) return;
    while (this.at < this.text.length && this.text[this.at] !== ")") {
      if (WORD_END.test(this.text[this.at] ?? "")) this.at++;
      else this.word();
    }
    this.at++;
    this.endCommand("");
  }

  /** Operators inside `[[ a < b && c ]]` are comparisons. */
  private readCondition(): void {
    const { words } = this.level.current;
    words.push("[[");
    while (this.at < this.text.length && words.at(-1) !== "]]") {
      if (this.take(/\s+/y) !== null) continue;
      if (this.text[this.at] === ";") return;
      words.push(this.take(/&&|\|\||[&|()<>](?!\()/y) ?? this.word());
    }
  }

  private endCommand(end: string): void {
    const { found, current } = this.level;
    const { keywords, assignments, words, inputs, outputs } = current;
    if (words.length + keywords.length + assignments.length + inputs.length + outputs.length > 0) {
      found.push({ kind: "command", command: { ...current, end } });
      this.level.current = createCurrent();
      return;
    }
    const last = found.at(-1);
    if (last?.kind === "close" && last.end === "" && !/[()]/.test(end))
      found[found.length - 1] = { ...last, end };
  }

  protected listOf(text: string): ShellPart[] {
    return new Reader(text, this.depth).list(false);
  }

  protected place(): { readonly found: ShellPart[]; readonly inner: ShellCommand[] } {
    return { found: this.level.found, inner: this.level.current.inner };
  }
}

function createLevel(): Level {
  return { found: [], open: [], hereDocuments: [], current: createCurrent() };
}

function createCurrent(): Current {
  return { keywords: [], assignments: [], words: [], inputs: [], outputs: [], inner: [] };
}
