/** The default prompts. `loop backlog init` writes them to files that a project can change. */
import type { Mode } from "../backlog.ts";
import { EVALUATOR_BASE, EVALUATOR_MODES } from "./prompt-texts-evaluator.ts";
import { GENERATOR_BASE, GENERATOR_MODES } from "./prompt-texts-generator.ts";

export const PROMPT_ROLES = ["generator", "evaluator"] as const;

export type PromptRole = (typeof PROMPT_ROLES)[number];

/** A file of `.loop/prompts`, or its default. */
export interface PromptText {
  readonly text: string;
  /** The path of the file; null: the default. */
  readonly path: string | null;
}

export interface PromptTexts {
  readonly base: PromptText;
  readonly mode: PromptText;
}

export function defaultPrompts(role: PromptRole, mode: Mode): PromptTexts {
  const ours = (text: string): PromptText => ({ text, path: null });
  return role === "generator"
    ? { base: ours(GENERATOR_BASE), mode: ours(GENERATOR_MODES[mode]) }
    : { base: ours(EVALUATOR_BASE), mode: ours(EVALUATOR_MODES[mode]) };
}
