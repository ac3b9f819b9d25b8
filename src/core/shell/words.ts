/** Flags among the words of a command line. */

/** The words from the first one that is not a flag. `valued`: flags that take the next word. */
export function skipFlags(words: readonly string[], valued: readonly string[]): string[] {
  let at = 0;
  for (let word = words[at]; word?.startsWith("-") && word !== "--" && word !== "-"; word = words[at]) {
    at += valued.includes(word) ? 2 : 1;
  }
  return words.slice(words[at] === "--" ? at + 1 : at);
}

/** The values of the flags, written as `--flag value`, `--flag=value` or `-fvalue`. */
export function valuesOf(words: readonly string[], flags: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    const next = words[at + 1];
    if (flags.includes(word)) return next === undefined ? [] : [next];
    const [flag = "", value] = word.split(/=(.*)/s);
    if (value !== undefined && flags.includes(flag)) return [value];
    const short = flags.find((each) => each.length === 2 && !word.startsWith("--") && word.startsWith(each));
    return short === undefined ? [] : [word.slice(2)];
  });
}
