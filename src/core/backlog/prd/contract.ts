/** The template of a story's contract (C2): generator and evaluator read `<id>.contract.md` before the work. */
const SECTIONS = {
  "What Will Be Built": "One paragraph, in the words of a user.",
  "Done Conditions": "Each condition is true or false, and visible from outside.",
  "Evaluation Criteria": "What the evaluator runs and looks at, and the result it must see.",
  "Out of Scope": "What stays unchanged.",
  "Key Files": "The files that the work touches, with a few words on each.",
  Dependencies: "Stories and other things that must exist first.",
} as const;

const PARTS = Object.entries(SECTIONS).map(([title, about]) => `## ${title}\n<!-- ${about} -->`);

export const CONTRACT_TEMPLATE = `${["# Contract: <id> — <title>", ...PARTS].join("\n\n")}\n`;
