/** The terms under which a person starts a goal. */

export interface Limits {
  readonly budgetUsd: number;
  readonly iterations: number;
  readonly timeMs: number | null;
  readonly tokens: number | null;
}

export type AgentSpec =
  | SingleAgentSpec
  /** The next agent takes the turn when a quota or an outage stops the agents before it. */
  | { readonly kind: "chain"; readonly agents: readonly SingleAgentSpec[] };

export type SingleAgentSpec =
  /** `codex`, or `codex:acp` to choose the driver. */
  | { readonly kind: "named"; readonly name: string }
  /** A command that reads the prompt from stdin. */
  | { readonly kind: "command"; readonly command: string }
  /** A command that speaks the Agent Client Protocol on stdin and stdout. */
  | { readonly kind: "acp"; readonly command: string };

export interface GoalPolicy {
  /** Skip the gates. */
  readonly yes: boolean;
  readonly exitOn: "both" | "proof";
  readonly gateTimeoutMs: number | null;
  readonly gateDefault: "approve" | "reject";
  readonly turnTimeoutMs: number;
  readonly checkTimeoutMs: number;
  /** Breaker: this many iterations without a change in any check. */
  readonly stillLimit: number;
  readonly protect: readonly string[];
  readonly allowChanges: readonly string[];
}
