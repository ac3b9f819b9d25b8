/** The form `word: text` of a check that is no command. */

/** The text after the word and its colon; null: the check does not begin with this word. */
export function textAfter(word: string, text: string): string | null {
  const [, found, rest = ""] = WORD.exec(text) ?? [];
  return found?.toLowerCase() === word ? rest.trim() : null;
}

const WORD = /^([a-z]+)\s*:([\s\S]*)$/i;
