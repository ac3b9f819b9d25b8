/**
 * Decides what an agent may do without a person (`permissions` in the config): allow, deny or ask, by kind of tool.
 *
 *   { "execute": { "npm run *": "allow", "npm run deploy*": "deny" }, "fetch": "allow", "edit": { "docs/**": "ask" } }
 *
 * 1. If several globs match, the last one counts. If none matches, the defaults count.
 * 2. If a request has several paths, the strictest answer counts.
 * 3. No rule can allow writing to `.loop` or `.git`. Only a glob that begins with `/` can allow writing outside the
 *    project.
 * 4. In a command glob, a star never matches text that could start a second command.
 */
import { matchesGlob, matchesStars } from "./glob.ts";
import { isRecord } from "./json.ts";

export const TOOL_KINDS = ["read", "edit", "delete", "execute", "fetch", "other"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

export const PERMISSION_ANSWERS = ["allow", "deny", "ask"] as const;
export type PermissionAnswer = (typeof PERMISSION_ANSWERS)[number];

/** One answer for everything, or one per glob: for paths (from the project folder), commands or titles. */
export type PermissionRule = PermissionAnswer | Readonly<Record<string, PermissionAnswer>>;
export type PermissionRules = Readonly<Partial<Record<ToolKind, PermissionRule>>>;

/** A path after all links are resolved. */
export interface AskedPath {
  readonly absolute: string;
  /** From the project folder; null: outside. Both paths use `/`. */
  readonly inProject: string | null;
}

export interface AskedFor {
  readonly tool: ToolKind;
  readonly title: string;
  readonly paths: readonly AskedPath[];
  readonly command: string | null;
  /** `generator` works; any other role judges and must change nothing; null: a turn of a task. */
  readonly role: string | null;
  /** Commands of the checks. They need no question. */
  readonly commands: readonly string[];
}

/** Characters that can start a second command or insert the output of one. */
const JOINS_COMMANDS = /[;&|<>`$()\\\n\r]/;
const ENDS_LINE = /[\n\r]/;
/** A person decides about longer lines. */
const LONGEST_LINE = 4_000;
const STRICTEST: readonly PermissionAnswer[] = ["deny", "ask", "allow"];

/** `ask` means that a person decides; without a person the answer is no. */
export function decidePermission(rules: PermissionRules, asked: AskedFor): PermissionAnswer {
  const subjects = subjectsOf(asked);
  const answers = subjects.map((subject) => decideOne(rules[asked.tool], asked, subject));
  return STRICTEST.find((answer) => answers.includes(answer)) ?? "deny";
}

/** The first error in the rules; null: none. */
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

/** Rules from an untrusted source: `allow` becomes `ask`. */
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

/** What the rules allow, for people: `execute npm run *`. */
export function allowedBy(rules: PermissionRules): readonly string[] {
  return Object.entries(rules).flatMap(([kind, rule]) =>
    typeof rule === "string"
      ? rule === "allow"
        ? [kind]
        : []
      : Object.entries(rule).flatMap(([glob, answer]) => (answer === "allow" ? [`${kind} ${glob}`] : [])),
  );
}

/** What a rule is matched with: a path, the command, or else the title. */
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
  // an edit without a path could change any file
  if (isWrite && (subject.kind !== "path" || isKept(subject.path))) return "deny";
  return answerOf(rule, subject, isWrite) ?? defaultOf(asked, subject);
}

/** null: no rule applies. */
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

/** Only a lone star matches everything. */
function fitsLine(line: string, glob: string, notInStar: RegExp): boolean {
  if (glob === "*" || glob === "**") return true;
  const text = line.trim();
  return text.length <= LONGEST_LINE && matchesStars(text, glob.trim(), (each) => !notInStar.test(each));
}

function defaultOf({ tool, role, commands }: AskedFor, subject: Subject): PermissionAnswer {
  if (tool === "read") return "allow";
  if (role !== null && role !== "generator") return "deny";
  if (subject.kind === "path" && (tool === "edit" || tool === "delete")) {
    if (subject.path.inProject === null) return "deny";
    return role === "generator" ? "allow" : "ask";
  }
  const command = subject.kind === "command" ? subject.command.trim() : "";
  return command !== "" && commands.some((one) => one.trim() === command) ? "allow" : "ask";
}

/** `.git` counts at any depth. File systems may ignore case. */
function isKept({ absolute, inProject }: AskedPath): boolean {
  const names = (inProject ?? absolute).toLowerCase().split("/");
  return names.includes(".git") || (inProject !== null && names[0] === ".loop");
}
