/** The steps of a spec (B21): whether it needs a planning turn, and how a `--steps` file is read. */
import { actionsOf, type Clause, readClauses } from "../spec/clauses.ts";
import { countedSetIn, placesIn } from "../spec/places.ts";
import { leadingVerb } from "../spec/verbs.ts";

/** A single action needs no plan. Constraints, checks and end conditions are not steps. */
export function needsPlan(spec: string): boolean {
  const asked = actionsOf(readClauses(spec));
  // "heap must stay under 200 MB" is an action only if there is no other
  const led = asked.filter(({ kind, text }) => kind === "foreign" || leadingVerb(text) !== null);
  const actions = led.length > 0 ? led : asked;
  if (actions.length !== 1) return actions.length > 1;
  return actions.some(isLarge);
}

/** The steps are the list items, or the lines if there is no list. Indented lines belong to their item. Ticked boxes are skipped. */
export function parseStepsFile(text: string): string[] {
  const lines = withoutComments(text).split(/\r?\n/);
  const items = readItems(lines);
  if (items.found) return items.steps;
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(?:#{1,6}\s|```|~~~|---+$)/.test(line));
}

/** One sentence that means many steps. */
function isLarge({ text }: Clause): boolean {
  const verb = leadingVerb(text)?.name ?? "";
  if (LARGE_VERB.test(verb) || countedSetIn(text) !== null || /\b(?:all|every|each)\b/i.test(text))
    return true;
  return new Set(placesIn(text)).size >= 3 || text.split(/\s+/).length > MANY_WORDS;
}

const LARGE_VERB = /^(?:migrate|rewrite|port|redesign|restructure|reorgani[sz]e|moderni[sz]e|develop)$/;
const MANY_WORDS = 40;
const ITEM = /^(\s*)(?:[-*+•]|\d{1,4}[.)])\s+(.*)$/;
const BOX = /^\[([ xX])\]\s+/;

function withoutComments(text: string): string {
  const body = text.replace(/^\uFEFF/, "").replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "");
  // as in Markdown, an unclosed comment runs to the end
  return body
    .split("<!--")
    .map((part, i) => (i === 0 ? part : part.includes("-->") ? part.slice(part.indexOf("-->") + 3) : ""))
    .join("");
}

function readItems(lines: readonly string[]): { readonly found: boolean; readonly steps: string[] } {
  const items: { text: string; isDone: boolean; parts: string[] }[] = [];
  let indent = -1;
  let isOpen = false;
  let inFence = false;
  for (const line of lines) {
    if (/^\s*(?:```|~~~)/.test(line)) {
      inFence = !inFence;
      continue;
    }
    const last = items.at(-1);
    const isIndented = /^\s/.test(line) && line.trim() !== "";
    const match = inFence ? null : ITEM.exec(line);
    if (match !== null) {
      const [, space = "", text = ""] = match;
      if (indent < 0) indent = space.length;
      const isDone = /x/i.test(BOX.exec(text)?.[1] ?? "");
      const name = text.replace(BOX, "").trim();
      isOpen = true;
      if (space.length > indent + 1 && last !== undefined) last.parts.push(name);
      else if (name !== "") items.push({ text: name, isDone, parts: [] });
    } else if (isOpen && isIndented && last !== undefined) {
      const parts = last.parts;
      if (parts.length === 0) last.text = `${last.text} ${line.trim()}`;
      else parts[parts.length - 1] = `${parts.at(-1)} ${line.trim()}`;
    } else if (line.trim() !== "") {
      isOpen = false;
    }
  }
  const open = items.filter(({ isDone }) => !isDone);
  const steps = open.map(({ text, parts }) =>
    parts.length === 0 ? text : `${text.replace(/:$/, "")}: ${parts.join("; ")}`,
  );
  return { found: items.length > 0, steps };
}
