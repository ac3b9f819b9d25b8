/** Reads a backlog's settings from `.loop/config.json`, and knows which of its commands a person has trusted. */
import { join } from "node:path";
import { checksText } from "../../core/backlog/accepted-checks.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { LoopError, surroundingsError } from "../../errors.ts";
import { commandsOfRoles, parseBacklogConfig } from "../../schema/backlog-config.ts";
import { parseConfig } from "../../schema/config.ts";
import { prdPath } from "../../store/files/prd-file.ts";
import { readText } from "../../store/files/read-text.ts";
import { createTrustStore } from "../../store/folder/trust.ts";
import type { Project } from "../project.ts";
import { countStories } from "../render/stories.ts";

export type BacklogSettings = ReturnType<typeof readBacklogSettings>;

/** `text` is null when the file does not exist. Throws an error that names the wrong key. */
export function readBacklogSettings({ dir }: Pick<Project, "dir">) {
  const path = join(dir, "config.json");
  const text = readText(path);
  const content = text === null ? {} : parseJson(path, text);
  const backlog = parseBacklogConfig(content);
  if (backlog.kind === "invalid") throw faulty(path, backlog.message);
  const config = parseConfig(content);
  if (config.kind === "invalid") throw faulty(path, config.message);
  return { path, text, content, backlog: backlog.config, config: config.config };
}

export function isSettingsTrusted(settings: BacklogSettings, env: NodeJS.ProcessEnv): boolean {
  const { path, text, backlog, config } = settings;
  if (text === null || (commandsOfRoles(backlog).length === 0 && (config.checks ?? []).length === 0))
    return true;
  return createTrustStore(env).isTrusted({ path, content: text });
}

/** Records that a person accepted these checks. false: older checks are not accepted, or nothing can be recorded. */
export function acceptChecks(
  root: string,
  before: readonly Story[],
  stories: readonly Story[],
  env: NodeJS.ProcessEnv,
  now: number,
): boolean {
  if (checksText(stories) === "") return true;
  if (!areChecksAccepted(root, before, env)) return false;
  return recordTrust(prdPath(root), checksText(stories), env, now);
}

/** false: nothing can be recorded on this machine. */
export function recordTrust(path: string, content: string, env: NodeJS.ProcessEnv, now: number): boolean {
  try {
    createTrustStore(env).trust({ path, content }, now);
    return true;
  } catch (error) {
    if (error instanceof LoopError) return false;
    throw error;
  }
}

/** B6, H2: whether the checks of a backlog may run. */
export function areChecksAccepted(root: string, stories: readonly Story[], env: NodeJS.ProcessEnv): boolean {
  const content = checksText(stories);
  return content === "" || createTrustStore(env).isTrusted({ path: prdPath(root), content });
}

export const NOT_ACCEPTED = "The checks do not run until you review and accept them: loop trust";

export function renderWritten(root: string, stories: readonly Story[], archived: string | null): string {
  const old = archived === null ? "" : `Archived the old stories: ${archived}\n`;
  return `${old}Wrote ${countStories(stories.length)} to ${prdPath(root)}.`;
}

function parseJson(path: string, text: string): Readonly<Record<string, unknown>> {
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw faulty(path, `not JSON: ${(error as Error).message}`);
  }
  if (typeof content !== "object" || content === null || Array.isArray(content))
    throw faulty(path, "this must be a JSON object");
  return content as Record<string, unknown>;
}

function faulty(path: string, message: string): LoopError {
  return surroundingsError(`${path}: ${message}.`, "Fix the file or remove it.");
}
