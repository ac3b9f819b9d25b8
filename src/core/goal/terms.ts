/** What a person agreed to when a goal was started. */

export interface Limits {
  readonly budgetUsd: number;
  readonly iterations: number;
  readonly timeMs: number | null;
  readonly tokens: number | null;
}

/** The agent that a goal was started with. */
export type AgentSpec =
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "command"; readonly command: string };

export interface GoalPolicy {
  /** Gates are skipped. */
  readonly yes: boolean;
  readonly exitOn: "both" | "proof";
  readonly gateTimeoutMs: number | null;
  readonly gateDefault: "approve" | "reject";
  readonly turnTimeoutMs: number;
  readonly checkTimeoutMs: number;
  /** Breaker: no check moved in this many iterations. */
  readonly stillLimit: number;
  readonly protect: readonly string[];
  readonly allowChanges: readonly string[];
}
