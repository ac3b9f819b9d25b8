/** `{{VARIABLES}}` of prompts (C4). An unknown variable is an error. */

export const VARIABLES = {
  MAX_FILES_TO_READ: "how many files an attempt may read",
  MAX_LINES_TO_WRITE: "how many lines it may write",
  MAX_FILES_TO_MODIFY: "how many files it may change",
  MODE: "explore, implement or fix",
  ITERATION: "the number of this iteration",
  MAX_ITERATIONS: "the highest number of iterations",
  LOOP_DIR: "the .loop folder",
  PROJECT_ROOT: "the project's folder",
  CURRENT_STORY_ID: "the story's id",
  PRE_GENERATOR_SHA: "the commit before the generator",
  STORY_TITLE: "the story's title",
  STORY_DESCRIPTION: "its description",
  ACCEPTANCE_CRITERIA: "its criteria, without the hidden ones",
  CHECKS: "the checks that the engine runs",
  NOTES: "the story's notes",
  CONTRACT: "its contract",
  PROGRESS: "the end of progress.md",
  REJECTION: "why the last attempt was rejected",
  CHANGED_FILES: "what the generator changed; nothing yet for the generator itself",
  NONCE: "the nonce of this turn",
} as const;

export type Variable = keyof typeof VARIABLES;

export type Values = Readonly<Record<Variable, string>>;

export type Filled =
  | { readonly kind: "ok"; readonly text: string }
  /** `message` is a sentence without its full stop. */
  | { readonly kind: "wrong"; readonly line: number; readonly message: string };

/**
 * One pass: text in a value that looks like a variable stays. Every `{{` starts a variable, so that a typing error
 * does not reach an agent; `\{{` writes the two braces.
 */
export function fillVariables(text: string, values: Readonly<Record<string, string>>): Filled {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf("{{"); at !== -1; at = text.indexOf("{{", from)) {
    if (text[at - 1] === "\\" && at > from) {
      parts.push(text.slice(from, at - 1), "{{");
      from = at + 2;
      continue;
    }
    const lineEnd = text.indexOf("\n", at);
    const close = text.indexOf("}}", at + 2);
    if (close === -1 || (lineEnd !== -1 && lineEnd < close)) {
      const rest = shorten(text.slice(at + 2, lineEnd === -1 ? undefined : lineEnd));
      return { kind: "wrong", line: lineOf(text, at), message: `{{${rest} is not closed by }}` };
    }
    const name = text.slice(at + 2, close).trim();
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) return unknown(name, lineOf(text, at), values);
    parts.push(text.slice(from, at), value);
    from = close + 2;
  }
  return { kind: "ok", text: parts.join("") + text.slice(from) };
}

function unknown(name: string, line: number, values: Readonly<Record<string, string>>): Filled {
  const capitals = name.toUpperCase().replaceAll(/[\s-]+/g, "_");
  const hint = Object.hasOwn(values, capitals)
    ? `write {{${capitals}}}`
    : "write \\{{ for the braces themselves";
  return { kind: "wrong", line, message: `there is no variable {{${shorten(name)}}}; ${hint}` };
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", end + 1)) line++;
  return line;
}

function shorten(name: string): string {
  const letters = [...name];
  return letters.length > 40 ? `${letters.slice(0, 39).join("")}…` : name;
}
