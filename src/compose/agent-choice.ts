/** Chooses the agent (command line, environment, configuration) and checks that it is installed. */
import { findWay, whyNoWay } from "../agents/find.ts";
import {
  KNOWN_AGENTS,
  type NamedAgent,
  parseAgentList,
  parseAgentName,
  renderAgentSpec,
} from "../core/agents.ts";
import type { AgentSpec, SingleAgentSpec } from "../core/goal/goal.ts";
import { type LoopError, surroundingsError, usageError } from "../errors.ts";
import type { Config } from "../schema/config.ts";

export interface AgentChoice {
  /** One name, or several with commas. */
  readonly agent?: string;
  readonly agentCmd?: string;
  readonly agentAcp?: string;
}

/** Like `chooseAgentSpec`; throws an error for the person when the agent is not installed. */
export function chooseAgent(
  choice: AgentChoice,
  config: Pick<Config, "agent">,
  env: NodeJS.ProcessEnv,
): AgentSpec {
  const spec = chooseAgentSpec(choice, config, env);
  requireAgent(spec, env);
  return spec;
}

export function isAgentTyped({ agent, agentCmd, agentAcp }: AgentChoice): boolean {
  return agent !== undefined || agentCmd !== undefined || agentAcp !== undefined;
}

/** The agent named on the command line, in LOOP_AGENT_CMD or in the configuration, or else Claude Code. */
export function chooseAgentSpec(
  { agent, agentCmd, agentAcp }: AgentChoice,
  config: Pick<Config, "agent">,
  env: NodeJS.ProcessEnv,
): AgentSpec {
  const given = Object.entries({ "--agent": agent, "--agent-cmd": agentCmd, "--agent-acp": agentAcp });
  const flags = given.filter(([, value]) => value !== undefined).map(([flag]) => flag);
  if (flags.length > 1) throw usageError(`${flags.join(" and ")} cannot be used together. Use one of them.`);
  if (agentCmd?.trim() === "")
    throw usageError("--agent-cmd is empty. Give a command that reads the prompt from stdin.");
  if (agentAcp?.trim() === "")
    throw usageError("--agent-acp is empty. Give a command that speaks the Agent Client Protocol.");
  if (agentAcp !== undefined) return { kind: "acp", command: agentAcp };
  const command = agentCmd ?? (agent === undefined ? env.LOOP_AGENT_CMD || undefined : undefined);
  if (command !== undefined) return { kind: "command", command };
  // in a conversation, the default is the agent of that conversation
  if (agent === undefined) return config.agent ?? { kind: "named", name: env.LOOP_HOST_AGENT || "claude" };
  const parsed = parseAgentList(agent.split(","));
  if (parsed.kind === "ok") return parsed.spec;
  throw unknownAgent(parsed.message);
}

/** Throws an error for the person when the agent is not installed. */
export function requireAgent(spec: AgentSpec, env: NodeJS.ProcessEnv): void {
  const singles = spec.kind === "chain" ? spec.agents : [spec];
  const missing = singles.filter((each) => !isThere(each, env));
  const [first, ...more] = missing;
  if (missing.length < singles.length || first === undefined) return;
  if (more.length === 0) throw notFound(first, env);
  throw surroundingsError(
    `No agent was found: none of ${missing.map(renderAgentSpec).join(", ")} is installed.`,
    "See: loop agents",
  );
}

export function isThere(spec: SingleAgentSpec, env: NodeJS.ProcessEnv): boolean {
  return spec.kind !== "named" || findWay(agentNamed(spec.name), "work", env) !== null;
}

/** Throws an error for the person when the name is unknown. */
export function agentNamed(text: string): NamedAgent {
  const parsed = parseAgentName(text);
  if (parsed.kind === "ok") return parsed.agent;
  throw unknownAgent(parsed.message);
}

function unknownAgent(problem: string): LoopError {
  return usageError(
    `--agent: ${problem}. For any other agent, use --agent-acp '<command>' or --agent-cmd '<command>'.`,
  );
}

export function notFound(spec: SingleAgentSpec, env: NodeJS.ProcessEnv, project?: string): LoopError {
  const agent = agentNamed(spec.kind === "named" ? spec.name : "");
  const { title, install } = KNOWN_AGENTS[agent.name];
  return surroundingsError(
    `No agent was found: ${whyNoWay(agent, env, project)}.`,
    `Install ${title} (${install}), or use any command that reads a prompt from stdin: --agent-cmd '<command>'`,
  );
}
