/** Reads the items of the three sections of SHAPE.md, in Markdown, YAML or both. */

export type ShapeSection = "criteria" | "mustNot" | "verification";

export interface ShapeItem {
  readonly section: ShapeSection;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  /** `command:` and `verification:` below an item of YAML. */
  readonly keys: Readonly<Record<string, string>>;
}

export function readShapeItems(text: string): ShapeItem[] {
  const items: Mutable[] = [];
  let section: ShapeSection | null = null;
  let level = 0;
  let fence: "skip" | "yaml" | null = null;
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const mark = /^\s*(?:```|~~~)\s*(\w*)/.exec(line);
    if (mark !== null) {
      fence = fence !== null ? null : /^ya?ml$/i.test(mark[1] ?? "") ? "yaml" : "skip";
      continue;
    }
    if (fence === "skip" || line.trim() === "") continue;
    if (/^---+\s*$/.test(line)) {
      section = null;
      continue;
    }
    const heading = /^(#{1,6})\s+(.+)$/.exec(line);
    if (heading !== null) {
      const depth = heading[1]?.length ?? 1;
      const named = sectionOf(heading[2] ?? "");
      // a deeper heading only groups the items of the section
      if (named === null && section !== null && depth > level) continue;
      section = named;
      level = depth;
      continue;
    }
    const key = /^([A-Za-z][\w -]*?)\s*:\s*(.*)$/.exec(line);
    const named = key === null ? null : sectionOf(key[1] ?? "");
    if (named !== null) {
      section = named;
      level = DEEPEST;
      for (const part of inlineList(key?.[2] ?? ""))
        items.push({ section, line: index + 1, text: part, keys: {} });
    } else if (section !== null) {
      readBody(items, section, line, index + 1);
    }
  }
  return items;
}

interface Mutable extends ShapeItem {
  text: string;
  readonly keys: Record<string, string>;
}

/** A YAML section ends at any heading. */
const DEEPEST = 6;

const SECTIONS: readonly (readonly [RegExp, ShapeSection])[] = [
  [/^(?:(?:success|acceptance) )?criteria$/, "criteria"],
  [/^must ?nots?$/, "mustNot"],
  [/^verification$/, "verification"],
];
const ITEM = /^\s*(?:[-*+•]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$/;
const KEY = /^\s+(name|criterion|command|check|run|verification|verify)\s*:\s*(.+)$/i;
const OPENING_KEY = /^(?:name|criterion|condition)\s*:\s*(.+)$/i;

function sectionOf(title: string): ShapeSection | null {
  const name = title
    .replaceAll(/[#*`:]/g, "")
    .replaceAll(/[-_\s]+/g, " ")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .trim()
    .toLowerCase();
  return SECTIONS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

function readBody(items: Mutable[], section: ShapeSection, line: string, number: number): void {
  const item = ITEM.exec(line);
  const last = items.at(-1);
  if (item !== null) {
    const text = unquote(item[1] ?? "");
    items.push({ section, line: number, text: unquote(OPENING_KEY.exec(text)?.[1] ?? text), keys: {} });
    return;
  }
  if (!/^\s/.test(line)) return;
  const key = KEY.exec(line);
  if (key !== null && last?.section === section && section !== "verification") {
    last.keys[normalKey(key[1] ?? "")] = unquote(key[2] ?? "");
  } else if (section === "verification" && /^\s+\S.*:\s*\S/.test(line)) {
    // a map of YAML: `UI renders: observation`
    items.push({ section, line: number, text: unquote(line), keys: {} });
  } else if (last?.section === section) {
    last.text = `${last.text} ${line.trim()}`;
  }
}

function normalKey(key: string): string {
  if (/^(?:command|check|run)$/i.test(key)) return "command";
  return /^verif/i.test(key) ? "verification" : "name";
}

/** The items of `[a, b]`. */
function inlineList(text: string): string[] {
  const [, inner] = /^\[(.*)\]\s*$/.exec(text.trim()) ?? [];
  if (inner === undefined) return [];
  return (inner.match(/"[^"]*"|'[^']*'|[^,]+/g) ?? []).map(unquote).filter((part) => part !== "");
}

function unquote(text: string): string {
  const bare = text.trim().replaceAll("**", "");
  const [, , inner] = /^(["'])(.*)\1$/.exec(bare) ?? [];
  return (inner ?? bare).trim();
}
