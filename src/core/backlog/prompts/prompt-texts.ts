/** The prompts that hold where a project has none of its own; `loop backlog init` writes them out to be changed. */
import type { Mode } from "../backlog.ts";
import { EVALUATOR_BASE, EVALUATOR_MODES } from "./prompt-texts-evaluator.ts";
import { GENERATOR_BASE, GENERATOR_MODES } from "./prompt-texts-generator.ts";

export type PromptRole = "generator" | "evaluator";

export const PROMPT_ROLES: readonly PromptRole[] = ["generator", "evaluator"];
export const MODES: readonly Mode[] = ["explore", "implement", "fix"];

/** One file of `.loop/prompts`, or what stands for it. */
export interface PromptText {
  readonly text: string;
  /** Where it was read from; null: it is ours. */
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
