/**
 * What an agent may do without a person (`permissions` of the config): allow, deny or ask, by kind of tool.
 *
 *   { "execute": { "npm run *": "allow", "npm run deploy*": "deny" }, "fetch": "allow", "edit": { "docs/**": "ask" } }
 *
 * 1. Of several globs that fit the last one counts, as it is written; where none fits the defaults count.
 * 2. Of several paths in one request the strictest answer counts.
 * 3. What the engine keeps (`.loop`) and what git keeps (`.git`) is written by no rule. What is outside of the project
 *    is written only by a glob that begins with `/`.
 * 4. A star in the glob of a command stands for no text that would make a second command of it.
 */
import { matchesGlob } from "./glob.ts";

export const TOOL_KINDS = ["read", "edit", "delete", "execute", "fetch", "other"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

export const PERMISSION_ANSWERS = ["allow", "deny", "ask"] as const;
export type PermissionAnswer = (typeof PERMISSION_ANSWERS)[number];

/** One answer for all, or one for each glob: on paths (from the project's folder), on commands, on titles. */
export type PermissionRule = PermissionAnswer | Readonly<Record<string, PermissionAnswer>>;
export type PermissionRules = Readonly<Partial<Record<ToolKind, PermissionRule>>>;

/** Where a path leads to, once all links are followed. */
export interface AskedPath {
  /** With `/`. */
  readonly absolute: string;
  /** From the project's folder, with `/`; null: it is outside. */
  readonly inProject: string | null;
}

export interface AskedFor {
  readonly tool: ToolKind;
  readonly title: string;
  readonly paths: readonly AskedPath[];
  readonly command: string | null;
  /** `generator` works; another one judges, and changes nothing; null: a turn of a task. */
  readonly role: string | null;
  /** What may be run without asking: the commands of the checks. */
  readonly commands: readonly string[];
}

/** What would make a second command of one, or put the output of one into it. */
const JOINS_COMMANDS = /[;&|<>`$()\\\n\r]/;
const ENDS_LINE = /[\n\r]/;
/** A longer one is for a person to look at. */
const LONGEST_LINE = 4_000;
const STRICTEST: readonly PermissionAnswer[] = ["deny", "ask", "allow"];

/** What is answered; `ask` means a person, and where nobody is, no. */
export function decidePermission(rules: PermissionRules, asked: AskedFor): PermissionAnswer {
  const subjects = subjectsOf(asked);
  const answers = subjects.map((subject) => decideOne(rules[asked.tool], asked, subject));
  return STRICTEST.find((answer) => answers.includes(answer)) ?? "deny";
}

/** The first thing that is wrong with rules that somebody wrote, as a sentence; null: nothing. */
export function wrongRules(rules: unknown): string | null {
  if (!isRecord(rules)) return "must be an object with a key for each kind of tool";
  for (const [kind, rule] of Object.entries(rules)) {
    if (!(TOOL_KINDS as readonly string[]).includes(kind))
      return `there is no kind of tool "${kind}"; known: ${TOOL_KINDS.join(", ")}`;
    const answers = isRecord(rule) ? Object.entries(rule) : [["", rule] as const];
    for (const [glob, answer] of answers) {
      if (!(PERMISSION_ANSWERS as readonly unknown[]).includes(answer))
        return `${kind}${glob === "" ? "" : ` "${glob}"`} must be one of ${PERMISSION_ANSWERS.join(", ")}`;
    }
  }
  return null;
}

/** The same rules by somebody whose word is not enough: what they allow is asked. */
export function withoutAllow(rules: PermissionRules): PermissionRules {
  const stricter = (answer: PermissionAnswer): PermissionAnswer => (answer === "allow" ? "ask" : answer);
  const entries = Object.entries(rules).map(([kind, rule]) => [
    kind,
    typeof rule === "string"
      ? stricter(rule)
      : Object.fromEntries(Object.entries(rule).map(([glob, answer]) => [glob, stricter(answer)])),
  ]);
  return Object.fromEntries(entries);
}

/** What rules allow, for a person to look at: `execute npm run *`. */
export function allowedBy(rules: PermissionRules): readonly string[] {
  return Object.entries(rules).flatMap(([kind, rule]) =>
    typeof rule === "string"
      ? rule === "allow"
        ? [kind]
        : []
      : Object.entries(rule).flatMap(([glob, answer]) => (answer === "allow" ? [`${kind} ${glob}`] : [])),
  );
}

/** What a rule is held against: each path, the command, or the title of what has neither. */
type Subject =
  | { readonly kind: "path"; readonly path: AskedPath }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "title"; readonly title: string };

function subjectsOf({ tool, paths, command, title }: AskedFor): readonly Subject[] {
  if (tool === "execute") return [{ kind: "command", command: command ?? "" }];
  if (paths.length > 0) return paths.map((path) => ({ kind: "path", path }));
  return [{ kind: "title", title }];
}

function decideOne(rule: PermissionRule | undefined, asked: AskedFor, subject: Subject): PermissionAnswer {
  const isWrite = asked.tool === "edit" || asked.tool === "delete";
  if (isWrite && subject.kind === "path" && isKept(subject.path)) return "deny";
  // an edit that does not say of what could be of anything
  if (isWrite && subject.kind !== "path") return "deny";
  const ruled = answerOf(rule, subject, isWrite);
  return ruled ?? defaultOf(asked, subject);
}

/** null: no rule speaks of it. */
function answerOf(
  rule: PermissionRule | undefined,
  subject: Subject,
  isWrite: boolean,
): PermissionAnswer | null {
  if (rule === undefined) return null;
  if (typeof rule === "string") {
    const isOutside = subject.kind === "path" && subject.path.inProject === null;
    return isWrite && isOutside && rule === "allow" ? null : rule;
  }
  const fitting = Object.entries(rule).filter(([glob]) => fits(subject, glob));
  return fitting.at(-1)?.[1] ?? null;
}

function fits(subject: Subject, glob: string): boolean {
  if (subject.kind === "command") return fitsLine(subject.command, glob, JOINS_COMMANDS);
  if (subject.kind === "title") return fitsLine(subject.title, glob, ENDS_LINE);
  const { absolute, inProject } = subject.path;
  if (glob.startsWith("/")) return matchesGlob(absolute.slice(1), glob);
  return inProject !== null && matchesGlob(inProject, glob.replace(/^\.\//, ""));
}

/** All places in the glob are followed at once: no glob makes it slow. Only a lone star stands for everything. */
function fitsLine(line: string, glob: string, notInStar: RegExp): boolean {
  if (glob === "*" || glob === "**") return true;
  const [text, wanted] = [line.trim(), glob.trim()];
  if (text.length > LONGEST_LINE) return false;
  let places = withStars(wanted, new Set([0]));
  for (const character of text.split("")) {
    const next = new Set<number>();
    for (const place of places) {
      if (wanted[place] === character) next.add(place + 1);
      if (wanted[place] === "*" && !notInStar.test(character)) next.add(place);
    }
    places = withStars(wanted, next);
  }
  return places.has(wanted.length);
}

/** A star may stand for nothing. */
function withStars(glob: string, places: ReadonlySet<number>): ReadonlySet<number> {
  const all = new Set(places);
  for (const place of all) if (glob[place] === "*") all.add(place + 1);
  return all;
}

function defaultOf({ tool, role, commands }: AskedFor, subject: Subject): PermissionAnswer {
  if (tool === "read") return "allow";
  if (role !== null && role !== "generator") return "deny";
  if (subject.kind === "path" && (tool === "edit" || tool === "delete")) {
    if (subject.path.inProject === null) return "deny";
    return role === "generator" ? "allow" : "ask";
  }
  const isCheck = subject.kind === "command" && isSaid(subject.command, commands);
  return isCheck ? "allow" : "ask";
}

function isSaid(command: string, commands: readonly string[]): boolean {
  const said = command.trim();
  return said !== "" && commands.some((one) => one.trim() === said);
}

/** The folder of a repository is named `.git` at any depth; file systems may take another case for the same. */
function isKept({ absolute, inProject }: AskedPath): boolean {
  const way = inProject ?? absolute;
  const names = way.toLowerCase().split("/");
  return names.includes(".git") || (inProject !== null && names[0] === ".loop");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
