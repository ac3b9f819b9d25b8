/** What a person agreed to when a goal was started. */

export interface Limits {
  readonly budgetUsd: number;
  readonly iterations: number;
  readonly timeMs: number | null;
  readonly tokens: number | null;
}

/** The agent that a goal was started with. */
export type AgentSpec =
  | SingleAgentSpec
  /** The next takes a turn where quota or an outage keeps those before it from it. */
  | { readonly kind: "chain"; readonly agents: readonly SingleAgentSpec[] };

export type SingleAgentSpec =
  /** `codex`, or `codex:acp` where it matters how it is driven. */
  | { readonly kind: "named"; readonly name: string }
  /** Reads the prompt on its stdin. */
  | { readonly kind: "command"; readonly command: string }
  /** Speaks the Agent Client Protocol on its stdin and stdout. */
  | { readonly kind: "acp"; readonly command: string };

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
