/** Creates agents from their specs: finds the program and picks its adapter. */

import { join } from "node:path";
import { createAcpAgent } from "../agents/acp/acp-agent.ts";
import { plainProfile, profileOf } from "../agents/acp/profiles.ts";
import { createAbsentAgent, createChain } from "../agents/chain/chain.ts";
import { createClaudeAgent } from "../agents/claude/cli.ts";
import { createCodexAgent } from "../agents/codex/cli.ts";
import { findWay } from "../agents/find.ts";
import { createGeminiAgent } from "../agents/gemini/cli.ts";
import { withMask } from "../agents/masked.ts";
import { createOpencodeAgent } from "../agents/opencode/cli.ts";
import { createPiAgent } from "../agents/pi/rpc.ts";
import { withPrices } from "../agents/prices.ts";
import { createCommandAgent } from "../agents/process/command.ts";
import type { LaunchOptions } from "../agents/process/launch.ts";
import type { StreamAgentOptions } from "../agents/stream/stream-agent.ts";
import { renderAgentSpec } from "../core/agents.ts";
import type { Prices } from "../core/cost/prices.ts";
import type { AgentSpec, SingleAgentSpec } from "../core/goal/goal.ts";
import type { PermissionRules } from "../core/permissions.ts";
import type { Agent, ToolServer, TurnControl } from "../ports/agent.ts";
import { readPrices } from "../store/files/prices-file.ts";
import { agentNamed, isThere, notFound, requireAgent } from "./agent-choice.ts";

export interface AgentParts extends LaunchOptions {
  readonly permissions?: PermissionRules;
  readonly toolServer?: ToolServer;
  /** Left out: the prices for the folder. */
  readonly prices?: Prices;
  readonly askPerson?: TurnControl["askPerson"];
  /** `side`: one question in its own context. */
  readonly use?: "work" | "side";
}

/** Throws an error for the person when the agent is not installed. */
export function agentFor(
  spec: AgentSpec,
  projectDir: string,
  env: NodeJS.ProcessEnv,
  parts: AgentParts = {},
): Agent {
  const { askPerson, ...rest } = parts;
  const agent =
    spec.kind === "chain" ? chainOf(spec.agents, projectDir, env, rest) : single(spec, projectDir, env, rest);
  return withMask(askPerson === undefined ? agent : withPerson(agent, askPerson));
}

/** An agent that is not installed keeps its place and takes no turn. `loop agents` shows it. */
function chainOf(
  specs: readonly SingleAgentSpec[],
  projectDir: string,
  env: NodeJS.ProcessEnv,
  parts: AgentParts,
): Agent {
  requireAgent({ kind: "chain", agents: specs }, env);
  const finder = createCommandAgent({ command: "true", projectDir });
  const agents = specs.map((spec) =>
    isThere(spec, env)
      ? single(spec, projectDir, env, parts)
      : createAbsentAgent(renderAgentSpec(spec), "not installed", finder),
  );
  return createChain(agents);
}

function single(spec: SingleAgentSpec, projectDir: string, env: NodeJS.ProcessEnv, parts: AgentParts): Agent {
  const { use = "work", prices = null, ...rest } = parts;
  const common = { ...rest, projectDir, env };
  if (spec.kind === "command") return createCommandAgent({ ...common, command: spec.command });
  return withPrices(
    spec.kind === "acp"
      ? createAcpAgent({ ...common, profile: plainProfile("acp"), program: { command: spec.command } })
      : named(spec, use, common),
    prices ?? readPrices({ dir: join(projectDir, ".loop") }, env),
  );
}

type Common = Omit<AgentParts, "use" | "prices"> & {
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
};

function named(spec: SingleAgentSpec & { kind: "named" }, use: "work" | "side", common: Common): Agent {
  const { name, driver } = agentNamed(spec.name);
  const way = findWay({ name, driver }, use, common.env, common.projectDir);
  if (way === null) throw notFound(spec, common.env, common.projectDir);
  const { executable } = way;
  if (name !== "pi" && way.driver === "acp")
    return createAcpAgent({ ...common, profile: profileOf(name), program: { executable } });
  const create = STREAM_AGENTS[name] ?? createClaudeAgent;
  return create({ ...common, executable });
}

const STREAM_AGENTS: Partial<Record<string, (options: StreamAgentOptions) => Agent>> = {
  codex: createCodexAgent,
  gemini: createGeminiAgent,
  opencode: createOpencodeAgent,
  pi: createPiAgent,
};

function withPerson(agent: Agent, askPerson: NonNullable<TurnControl["askPerson"]>): Agent {
  return {
    ...agent,
    run: (turn, control) => agent.run(turn, { ...control, askPerson }),
    reconcile: (turn, control) => agent.reconcile(turn, { ...control, askPerson }),
  };
}
