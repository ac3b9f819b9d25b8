/** The contract of a story (C2): what generator and evaluator agree on before the work, in `<id>.contract.md`. */
import { cleanLine, cleanText } from "../../text/clean.ts";
import type { Story } from "../stories.ts";

export interface Contract {
  readonly whatWillBeBuilt: string;
  readonly doneConditions: readonly string[];
  readonly evaluationCriteria: readonly string[];
  readonly outOfScope: readonly string[];
  readonly keyFiles: readonly string[];
  readonly dependencies: readonly string[];
}

type Lists = Exclude<keyof Contract, "whatWillBeBuilt">;

/** In the order of the file, with what belongs there. */
const SECTIONS: readonly { readonly key: keyof Contract; readonly title: string; readonly about: string }[] =
  [
    { key: "whatWillBeBuilt", title: "What Will Be Built", about: "One paragraph, as a user would say it." },
    {
      key: "doneConditions",
      title: "Done Conditions",
      about: "Each one true or false, and seen from outside.",
    },
    {
      key: "evaluationCriteria",
      title: "Evaluation Criteria",
      about: "What the evaluator runs and looks at, and what it has to see.",
    },
    { key: "outOfScope", title: "Out of Scope", about: "What stays as it is." },
    { key: "keyFiles", title: "Key Files", about: "Where the work is, with a word on each." },
    { key: "dependencies", title: "Dependencies", about: "Stories and things that have to be there first." },
  ];

/** To be filled in by a person or a planning agent. What stands in comments is no content. */
export const CONTRACT_TEMPLATE = [
  "# Contract: <id> — <title>",
  ...SECTIONS.map(({ title, about }) => `## ${title}\n<!-- ${about} -->`),
]
  .join("\n\n")
  .concat("\n");

export interface ParsedContract {
  readonly contract: Contract;
  /** What is missing, as sentences; the rest counts all the same. */
  readonly problems: readonly string[];
}

/** Headings of any depth, lists with or without boxes. What stands under other headings is not part of it. */
export function parseContract(text: string): ParsedContract {
  const bodies = bodiesOf(cleanText(text).replaceAll(/<!--[\s\S]*?-->/g, ""));
  const textOf = (key: keyof Contract) => (bodies.get(key) ?? []).join("\n").trim();
  const items = (key: Lists) => itemsOf(bodies.get(key) ?? []);
  const contract: Contract = {
    whatWillBeBuilt: textOf("whatWillBeBuilt"),
    doneConditions: items("doneConditions"),
    evaluationCriteria: items("evaluationCriteria"),
    outOfScope: items("outOfScope"),
    keyFiles: items("keyFiles"),
    dependencies: items("dependencies"),
  };
  const problems = SECTIONS.flatMap(({ key, title }) => {
    if (!bodies.has(key)) return [`The section "${title}" is missing.`];
    return NEEDED.has(key) && contract[key].length === 0 ? [`The section "${title}" is empty.`] : [];
  });
  return { contract, problems };
}

const NEEDED: ReadonlySet<keyof Contract> = new Set([
  "whatWillBeBuilt",
  "doneConditions",
  "evaluationCriteria",
]);

/** What a story itself has to say; hidden criteria are not in it, for the generator reads it (C15). */
export function draftContract(story: Story): Contract {
  return {
    whatWillBeBuilt: story.description.trim() === "" ? cleanLine(story.title) : story.description,
    doneConditions: story.acceptanceCriteria,
    evaluationCriteria: story.checks.length === 0 ? story.acceptanceCriteria : story.checks,
    outOfScope: [],
    keyFiles: [],
    dependencies: story.dependsOn,
  };
}

/** Read again, it is the same contract: no text in it can begin a section or hide one. */
export function renderContract(story: Pick<Story, "id" | "title">, contract: Contract): string {
  const sections = SECTIONS.map(({ key, title }) => {
    const value = contract[key];
    return `## ${title}\n${typeof value === "string" ? renderText(value) : renderItems(value, key)}`;
  });
  const head = `# Contract: ${story.id} — ${withoutComments(cleanLine(story.title))}`;
  return `${[head, ...sections].join("\n\n")}\n`;
}

function renderText(text: string): string {
  const clean = withoutComments(cleanText(text)).trim();
  return /^\s*(?:#|`{3}|~{3})/m.test(clean) ? clean.replaceAll(/^/gm, "> ") : clean;
}

function renderItems(items: readonly string[], key: keyof Contract): string {
  const box = key === "doneConditions" ? "[ ] " : "";
  const lines = items.map((item) => `- ${box}${withoutComments(cleanLine(item))}`.trimEnd());
  return lines.length === 0 ? "- none" : lines.join("\n");
}

function withoutComments(text: string): string {
  return text.replaceAll("<!--", "<! --");
}

/** The lines under each heading of ours. Inside a fence nothing is a heading. */
function bodiesOf(text: string): ReadonlyMap<keyof Contract, readonly string[]> {
  const bodies = new Map<keyof Contract, string[]>();
  let current: string[] | null = null;
  let fence: string | null = null;
  for (const line of text.split("\n")) {
    const [, mark = null] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence !== null) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
    } else if (mark !== null) {
      fence = mark;
    } else {
      const [, title] = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t:#]*$/.exec(line) ?? [];
      if (title !== undefined) {
        current = bodyUnder(title, bodies);
        continue;
      }
    }
    current?.push(line);
  }
  return bodies;
}

/** null under a heading that is not ours: nobody can tell what belongs to it. */
function bodyUnder(title: string, bodies: Map<keyof Contract, string[]>): string[] | null {
  const section = SECTIONS.find((one) => one.title.toLowerCase() === cleanLine(title).toLowerCase());
  if (section === undefined) return null;
  const body = bodies.get(section.key) ?? [];
  bodies.set(section.key, body);
  return body;
}

function itemsOf(lines: readonly string[]): readonly string[] {
  const items: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    const [, item] = /^[ \t]*(?:[-*+]|\d{1,3}[.)])(?:[ \t]+(.*))?$/.exec(line) ?? [];
    if (item !== undefined) items.push(item.replace(/^\[[ xX]\](?:[ \t]+|$)/, ""));
    else if (line.trim() !== "" && isOpen) items.push(`${items.pop() ?? ""} ${line}`);
    else if (line.trim() !== "") items.push(line);
    isOpen = line.trim() !== "";
  }
  return items.map(cleanLine).filter((item) => !/^(?:\(?none\)?\.?|-)?$/i.test(item));
}
