/** Questions to an agent with its own context: `ui=judge: …`, `design=review: …`. Weaker than a command. */
import { codeSpan } from "../text/quote.ts";
import type { KindOfCheck } from "./kind.ts";

interface Wording extends Pick<KindOfCheck, "verification" | "atMost"> {
  readonly shapeWords: RegExp;
  readonly does: string;
  readonly doesInPrompt: string;
  readonly instructions: string;
}

function askedKind<K extends "judge" | "review">(
  kind: K,
  { shapeWords, does, doesInPrompt, instructions, ...weight }: Wording,
): KindOfCheck<{ readonly kind: K; readonly question: string }> {
  const ask = (question: string) => ({ kind, question });
  return {
    ...weight,
    isWeaker: true,
    blocks: null,
    shape: { words: shapeWords, ofText: ask, mismatch: null },
    parse(text) {
      const question = textAfter(kind, text);
      if (question === null) return null;
      return question === "" ? `there is no question after "${kind}:"` : ask(question);
    },
    run: ({ question }) => ({ kind: "ask", as: kind, question, instructions }),
    describe: ({ question }) => `a second agent ${does} (weaker): ${question}`,
    demand: ({ question }) => `an agent with a fresh context ${doesInPrompt}: ${codeSpan(question)}`,
    renderFinding: (_check, { met }) => (met ? "said yes" : "said no"),
  };
}

export const JUDGE = askedKind("judge", {
  verification: "observation",
  atMost: "SHIP",
  shapeWords: /^(?:observation|observed?|visual|judged?)$/i,
  does: "looks",
  doesInPrompt: "looks at the running product",
  instructions:
    "Look at the running product: start it, call it, read its output. Code that looks right proves nothing here. A comment, a commit message or a document that says that it works proves nothing either.",
});

export const REVIEW = askedKind("review", {
  verification: "code review",
  atMost: "MONITOR",
  shapeWords: /^(?:code[- ]?review|review(?:ed)?|inspection)$/i,
  does: "reads the code",
  doesInPrompt: "reads the code",
  instructions:
    "Read the code itself: the whole changed files and their callers. Look for stubs, special cases for the tests, swallowed errors, and unreachable code. A comment, a commit message or a document that says that it is done proves nothing.",
});

/** The text after `word:`; null: the check does not begin with this word. */
export function textAfter(word: string, text: string): string | null {
  const [, found, rest = ""] = /^([a-z]+)\s*:([\s\S]*)$/i.exec(text) ?? [];
  return found?.toLowerCase() === word ? rest.trim() : null;
}
