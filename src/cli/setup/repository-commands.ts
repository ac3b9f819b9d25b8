/**
 * Commands in files that may have come with a repository (H2). Callers run the commands of the trusted `content`
 * and never read the file a second time.
 */
import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { readProjectFacts } from "../../checks/project-facts.ts";
import { checksText } from "../../core/backlog/accepted-checks.ts";
import type { Criterion, MustNot } from "../../core/goal/goal.ts";
import { allowedBy } from "../../core/permissions.ts";
import { parseShapeFile } from "../../core/spec/shape-file.ts";
import { commandsOfBans, commandsOfCriteria, type NamedCommand } from "../../core/views/what-runs.ts";
import { type LoopError, surroundingsError } from "../../errors.ts";
import { commandsOfRoles } from "../../schema/backlog-config.ts";
import { parseConfigText } from "../../schema/config.ts";
import { loadPrd, prdPath } from "../../store/files/prd-file.ts";
import { readText, readTextThroughLinks } from "../../store/files/read-text.ts";
import { cannotRead } from "../../store/folder/loop-dir.ts";
import { createTrustStore, type TrustStore } from "../../store/folder/trust.ts";
import { errorCode } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { validChecks } from "../goals/goal-flags.ts";
import type { Project } from "../project.ts";

type Place = Pick<Project, "root" | "dir">;

export interface RepositoryFile {
  /** Relative to the project folder. */
  readonly file: string;
  readonly path: string;
  readonly content: string;
  readonly commands: readonly NamedCommand[];
}

/** Leaves out files without commands. Throws for a file that cannot be parsed. */
export function commandsOf(project: Place): readonly RepositoryFile[] {
  return [...readFiles(project), ...readStories(project)]
    .map(({ criteria, mustNot, programs = [], ...file }) => ({
      ...file,
      commands: [...commandsOfCriteria(criteria), ...commandsOfBans(mustNot), ...programs],
    }))
    .filter(({ commands }) => commands.length > 0);
}

export function untrustedOf(project: Place, trust: TrustStore): readonly RepositoryFile[] {
  return commandsOf(project).filter((found) => !trust.isTrusted(found));
}

/** The criteria and bans that the project's files add to a goal. Throws when a file is not trusted. */
export function trustedCriteria(
  project: Place,
  env: NodeJS.ProcessEnv,
): { readonly criteria: readonly Criterion[]; readonly mustNot: readonly MustNot[] } {
  const files = readFiles(project);
  const trust = createTrustStore(env);
  const isHarmless = (file: ParsedFile) =>
    commandsOfCriteria(file.criteria).length + commandsOfBans(file.mustNot).length === 0;
  const untrusted = files.filter((file) => !isHarmless(file) && !trust.isTrusted(file));
  if (untrusted.length > 0) throw notTrusted(untrusted.map(({ file }) => file));
  return {
    criteria: files.flatMap(({ criteria }) => criteria),
    mustNot: files.flatMap(({ mustNot }) => mustNot),
  };
}

function notTrusted(files: readonly string[]): LoopError {
  const contains = files.length === 1 ? "contains" : "contain";
  const message = `${files.join(" and ")} ${contains} commands that are new or changed, and you have not trusted them yet.`;
  return surroundingsError(message, "Review and trust them with: loop trust");
}

interface ParsedFile extends Omit<RepositoryFile, "commands"> {
  readonly criteria: readonly Criterion[];
  readonly mustNot: readonly MustNot[];
  /** Commands that the file sets as agents of a backlog. */
  readonly programs?: readonly NamedCommand[];
}

function readFiles(project: Place): readonly ParsedFile[] {
  return [readShape(project), readChecks(project)].filter((found) => found !== null);
}

/** Only for trust: the checks of stories are no criteria of goals. */
function readStories({ root }: Place): readonly ParsedFile[] {
  const stories = loadPrd(root)?.prd.stories ?? [];
  const content = checksText(stories);
  if (content === "") return [];
  const criteria = stories.flatMap(({ id, checks }) =>
    validChecks(checks).map((check) => ({ ...check, name: `${id}: ${check.name}` })),
  );
  return [{ file: ".loop/prd.json", path: prdPath(root), content, criteria, mustNot: [] }];
}

function readShape({ root }: Place): ParsedFile | null {
  const file = ".loop/shape/SHAPE.md";
  const path = join(root, file);
  const content = readInside(root, path);
  if (content === null) return null;
  const parsed = parseShapeFile(content, readProjectFacts(root));
  if (parsed.kind === "invalid")
    throw surroundingsError(`${path}: ${parsed.message}`, "Repair or delete this file.");
  return { file, path, content, criteria: parsed.criteria, mustNot: parsed.mustNot };
}

function readChecks({ dir }: Place): ParsedFile | null {
  const file = ".loop/config.json";
  const path = join(dir, "config.json");
  const content = readText(path);
  if (content === null) return null;
  const parsed = parseConfigText(content);
  if (parsed.kind === "invalid")
    throw surroundingsError(`${path}: ${parsed.message}.`, "Repair or delete this file.");
  const checks = validChecks(parsed.config.checks ?? []);
  const criteria = checks.map((check): Criterion => ({ ...check, source: "config" }));
  const allowed = allowedBy(parsed.config.permissions ?? {});
  const programs = [
    ...commandsOfRoles(parsed.config),
    ...allowed.map((command) => ({ name: "permissions: allow", command })),
    ...(parsed.config.mask ? [] : [{ name: "mask: false", command: "store and show secrets as they are" }]),
  ];
  return { file, path, content, criteria, mustNot: [], programs };
}

/** A link may lead only to another file of the project. */
function readInside(root: string, path: string): string | null {
  if (!isThere(path)) return null;
  if (!isInside(root, path))
    throw surroundingsError(`${path} is a link to a place outside the project.`, "Replace it with a file.");
  if (!statSync(path).isFile()) throw surroundingsError(`${path} is not a file.`);
  return readTextThroughLinks(path);
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return false;
    throw cannotRead(path, error);
  }
}
