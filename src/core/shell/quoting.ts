/** Quotes, ANSI-C quotes and arithmetic of the shell. */

/** Reads `$'it\'s'` from after its first quote: its meaning and its end. */
export function readAnsiC(text: string, from: number): { readonly text: string; readonly end: number } {
  let read = "";
  let at = from;
  while (at < text.length && text[at] !== "'") {
    ESCAPE.lastIndex = at;
    const [whole, escaped] = ESCAPE.exec(text) ?? [];
    read += whole === undefined ? text[at] : meaningOf(escaped ?? "");
    at += whole?.length ?? 1;
  }
  return { text: read, end: at + 1 };
}

const ESCAPE = /\\([0-7]{1,3}|x[\da-fA-F]{1,2}|u[\da-fA-F]{1,4}|U[\da-fA-F]{1,8}|c[\s\S]|[\s\S])/y;
const LETTERS = "abeEfnrtv";
const MEANINGS = "\u0007\b\u001b\u001b\f\n\r\t\v";

function meaningOf(escaped: string): string {
  if (/^[0-7]/.test(escaped)) return String.fromCharCode(Number.parseInt(escaped, 8) & 0xff);
  if (/^[xuU]./.test(escaped)) {
    const code = Number.parseInt(escaped.slice(1), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  }
  if (/^c./s.test(escaped)) return String.fromCharCode(escaped.charCodeAt(1) & 0x1f);
  const letter = LETTERS.indexOf(escaped);
  if (letter !== -1 && escaped !== "") return MEANINGS[letter] ?? "";
  return /^[\\'"?]$/.test(escaped) ? escaped : `\\${escaped}`;
}

/** Bash reads `((…))` as arithmetic, `sh` as two subshells. Two words in a row are not arithmetic. */
export function looksArithmetic(text: string): boolean {
  return !/^\s*[\w./~-]*[A-Za-z./~][\w./~-]*\s+(?:[\w./$"'~]|-{1,2}[A-Za-z])|;/.test(text);
}

/** The end of the quoted or escaped text that starts at `at`; `at` itself: nothing starts there. */
export function quotedEnd(text: string, at: number): number {
  const quote = text[at];
  if (quote === "\\") return at + 2;
  if (quote === "$" && text[at + 1] === "'") return readAnsiC(text, at + 2).end;
  if (quote !== "'" && quote !== '"' && quote !== "`") return at;
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === "\\" && quote !== "'") end++;
    else if (text[end] === quote) return end + 1;
  }
  return text.length;
}
