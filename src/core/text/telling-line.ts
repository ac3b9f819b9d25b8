/** Finds the line of a long output that says what is wrong. */
const TELLING =
  /\b(?:errors?|fail(?:s|ed|ure|ures|ing)?|expected|assert\w*|not ok|cannot|can't|missing|undefined|denied|panic(?:ked)?|exception|traceback|refused|unknown|invalid)\b|[✗✖×]/i;
/** Sums and times, which every run prints. */
const EMPTY_WORDS =
  /\b0 (?:errors?|fail\w*|failures)\b|\bfail(?:ed|ures|ing)?:? 0\b|\bduration(?:_ms)?\b|^#? *\w+ \d+$|^\W*$/i;

export function tellingLine(tail: string): string {
  const lines = tail
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !EMPTY_WORDS.test(line));
  return lines.findLast((line) => TELLING.test(line)) ?? lines.at(-1) ?? "";
}
