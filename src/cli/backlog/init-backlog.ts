/**
 * `loop backlog init` (C1, C2): creates the files of a backlog. It adds missing settings to config.json and
 * changes no other existing file. It detects the stack from file names and runs no command of the project.
 */
import { basename } from "node:path";
import { CONTRACT_TEMPLATE } from "../../core/backlog/prd/contract.ts";
import type { Stack } from "../../core/backlog/prd/detect.ts";
import { PROGRESS_HEADER } from "../../core/backlog/progress-entry.ts";
import { defaultPrompts, PROMPT_ROLES } from "../../core/backlog/prompts/prompt-texts.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { LoopError, surroundingsError } from "../../errors.ts";
import { BACKLOG_DEFAULTS, CONFIG_MODES, commandsOfRoles } from "../../schema/backlog-config.ts";
import { emptyPrd, renderPrd } from "../../schema/prd.ts";
import { createFile } from "../../store/files/backlog-files.ts";
import { loadPrd } from "../../store/files/prd-file.ts";
import { cannotWrite, ensureLoopDir } from "../../store/folder/loop-dir.ts";
import { readSmall, replaceIf } from "../../system/files.ts";
import { type Questions, terminalQuestions } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { oneOf } from "../flags/values.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToChange, type ProjectFlags } from "../project.ts";
import { refuseTurns } from "../run/person.ts";
import {
  type BacklogSettings,
  isSettingsTrusted,
  readBacklogSettings,
  recordTrust,
} from "./backlog-settings.ts";
import { readStack } from "./backlog-specs.ts";

export interface BacklogInitFlags extends ProjectFlags {
  readonly mode?: string;
  readonly prompts?: boolean;
}

export async function backlogInitCommand(
  flags: BacklogInitFlags,
  io: Io,
  questions: Questions = terminalQuestions,
): Promise<number> {
  const asked = oneOf("--mode", flags.mode, CONFIG_MODES);
  const project = openProjectToChange(flags, io);
  const { root, store } = project;
  refuseTurns(store, "set up a backlog");
  // validate everything before the first write
  loadPrd(root);
  const settings = readBacklogSettings(project);
  const stack = readStack(root);
  const mode = asked ?? (await chooseMode(settings, flags, io, questions));
  if (mode === null) {
    io.say("Nothing was changed.");
    return EXIT.ok;
  }
  const added = additions(settings, stack, mode, asked !== undefined);
  ensureLoopDir(root);
  const isTrusted = writeSettings(settings, added);
  const files = filesFor(root, flags.prompts ?? false);
  const written = Object.keys(files).filter((path) => createFile(root, path, files[path] ?? ""));
  const kept = Object.keys(files).filter((path) => !written.includes(path));
  const keys = Object.keys(added);
  const config = { written: keys.length > 0, added: keys, trusted: isTrusted };
  const view = { version: 1, project: root, mode, stack, config, written, kept };
  answer(flags, io, view, render(stack, mode, keys, written, kept));
  if (!isTrusted)
    io.say("The commands in config.json do not run until you review and accept them: loop trust");
  return EXIT.ok;
}

/** null: the person cancelled. Does not ask when the file has a mode. */
async function chooseMode(
  { content, backlog }: BacklogSettings,
  flags: BacklogInitFlags,
  io: Io,
  questions: Questions,
): Promise<string | null> {
  if ("mode" in content || !io.interactive || flags.json) return backlog.mode;
  return await questions.choose("Which kind of work are the stories?", CONFIG_MODES, BACKLOG_DEFAULTS.mode);
}

type Added = Readonly<Record<string, unknown>>;

/** The missing settings, and the mode if the person named one. */
function additions({ content }: BacklogSettings, stack: Stack, mode: string, isNamed: boolean): Added {
  const wanted = {
    ...BACKLOG_DEFAULTS,
    mode,
    ...(stack.checks.length === 0 ? {} : { checks: stack.checks }),
  };
  const isNew = ([key, value]: [string, unknown]) =>
    !(key in content) || (key === "mode" && isNamed && content.mode !== value);
  return Object.fromEntries(Object.entries(wanted).filter(isNew));
}

/**
 * false: the file contains commands that nobody trusted. init derives its additions from file names and shows them, so
 * a file that was trusted before stays trusted.
 */
function writeSettings(settings: BacklogSettings, added: Added): boolean {
  const { path, text, content, backlog } = settings;
  const wasTrusted = isSettingsTrusted(settings, process.env);
  if (Object.keys(added).length === 0) return wasTrusted;
  const [, indent = "  "] = /^\s*\{\r?\n([ \t]{1,8})"/.exec(text ?? "") ?? [];
  const after = `${JSON.stringify({ ...content, ...added }, null, indent)}\n`;
  try {
    if (!replaceIf(path, after, () => readSmall(path) === text))
      throw surroundingsError(`${path} was changed since it was read.`, "Nothing was written; try again.");
  } catch (error) {
    throw error instanceof LoopError ? error : cannotWrite(path, error);
  }
  if (!wasTrusted) return false;
  if (!("checks" in { ...content, ...added }) && commandsOfRoles(backlog).length === 0) return true;
  return recordTrust(path, after, process.env, Date.now());
}

const PROGRESS_TEMPLATE = "templates/progress.md.template";

/** Path inside `.loop` → text. */
function filesFor(root: string, withPrompts: boolean): Readonly<Record<string, string>> {
  const own = readSmall(`${root}/.loop/${PROGRESS_TEMPLATE}`);
  return {
    "prd.json": renderPrd(emptyPrd(basename(root)).content, null),
    [PROGRESS_TEMPLATE]: PROGRESS_HEADER,
    "templates/contract.md.template": CONTRACT_TEMPLATE,
    "progress.md": own ?? PROGRESS_HEADER,
    ...(withPrompts ? promptFiles() : {}),
  };
}

function promptFiles(): Readonly<Record<string, string>> {
  const files = PROMPT_ROLES.flatMap((role) => [
    [`prompts/${role}/_base.md`, defaultPrompts(role, "implement").base.text],
    ...CONFIG_MODES.map((mode) => [`prompts/${role}/${mode}.md`, defaultPrompts(role, mode).mode.text]),
  ]);
  return Object.fromEntries(files) as Record<string, string>;
}

function render(
  stack: Stack,
  mode: string,
  added: readonly string[],
  written: readonly string[],
  kept: readonly string[],
): string {
  const lines = [
    `Stack: ${stack.names.length === 0 ? "not recognised" : stack.names.join(", ")}`,
    `Mode: ${mode}`,
    ...(added.includes("checks")
      ? ["Checks for every story:", ...stack.checks.map((one) => `  ${cleanLine(one)}`)]
      : []),
    added.length === 0
      ? "config.json already has all settings."
      : `Wrote to config.json: ${added.join(", ")}`,
    ...(written.length === 0 ? [] : [`Wrote: ${written.join(", ")}`]),
    ...(kept.length === 0 ? [] : [`Unchanged: ${kept.join(", ")}`]),
    "Next: loop backlog plan SPEC.md, or loop backlog import <file>",
  ];
  return lines.join("\n");
}
