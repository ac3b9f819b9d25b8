/** The composition root: the only place that puts adapters together. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { bySubAgent } from "./agents/by-sub-agent.ts";
import { createClaudeAgent } from "./agents/claude-cli.ts";
import { createCommandAgent } from "./agents/command.ts";
import { findExecutable } from "./agents/find.ts";
import type { LaunchOptions } from "./agents/launch.ts";
import { createProtection } from "./checks/protection/protection.ts";
import { createCommandChecker } from "./checks/run-command.ts";
import { createWorkspace } from "./checks/workspace.ts";
import type { AgentSpec } from "./core/goal/goal.ts";
import { Engine, type EngineNews } from "./engine/engine.ts";
import type { BacklogParts, GoalParts, Host } from "./engine/parts.ts";
import { LoopError, usageError } from "./errors.ts";
import { createCheckpoints } from "./git/checkpoints.ts";
import { createStoryPlaces } from "./git/story-places.ts";
import type { Agent, Clock, Lease, Notifier, Store } from "./ports.ts";
import type { Config } from "./schema/config.ts";
import type { GoalFiles } from "./store/goal-files.ts";
import { createStoryFiles } from "./store/story-files.ts";
import { systemClock } from "./system/clock.ts";
import { procStart } from "./system/process.ts";

export interface AgentChoice {
  readonly agent?: string;
  readonly agentCmd?: string;
}

/** The agent that fires go to: named on the command line, by LOOP_AGENT_CMD, by the config, or found. */
export function chooseAgent(
  choice: AgentChoice,
  config: Config,
  project: string,
  env: NodeJS.ProcessEnv,
): Agent {
  return agentFor(chooseAgentSpec(choice, config, env), project, env);
}

/** The same choice as data, for a goal that remembers it. */
export function chooseAgentSpec(choice: AgentChoice, config: Config, env: NodeJS.ProcessEnv): AgentSpec {
  checkAgentChoice(choice);
  const command =
    choice.agentCmd ?? (choice.agent === undefined ? env.LOOP_AGENT_CMD || undefined : undefined);
  if (command !== undefined) return { kind: "command", command };
  const name = choice.agent ?? config.agent ?? "claude";
  checkAgentChoice({ agent: name });
  return { kind: "named", name };
}

/** Throws the sentence for the person when it is not to be had here. */
export function agentFor(
  spec: AgentSpec,
  project: string,
  env: NodeJS.ProcessEnv,
  options: LaunchOptions = {},
): Agent {
  if (spec.kind === "command")
    return createCommandAgent({ command: spec.command, projectDir: project, ...options });
  checkAgentChoice({ agent: spec.name });
  // in a conversation, the very program that it runs in
  const executable = findExecutable(env.LOOP_CLAUDE ?? "", env) ?? findExecutable("claude", env);
  if (executable !== null) return createClaudeAgent({ executable, projectDir: project, ...options });
  throw new LoopError(
    "surroundings",
    "No agent was found: `claude` is not on the PATH.",
    "Install Claude Code (npm install -g @anthropic-ai/claude-code), or name any command that reads a prompt on stdin: --agent-cmd '<command>'",
  );
}

/** Finds and ends turns of any agent; for who starts none. */
export function createReconciler(project: string): Agent {
  return createCommandAgent({ command: "true", projectDir: project });
}

/** Refuses what no surroundings can make right. */
export function checkAgentChoice({ agent, agentCmd }: AgentChoice): void {
  if (agentCmd?.trim() === "")
    throw usageError("--agent-cmd is empty; give a command that reads the prompt on stdin.");
  if (agent !== undefined && agentCmd !== undefined)
    throw usageError("--agent and --agent-cmd exclude each other.");
  if (agent !== undefined && agent !== "claude")
    throw usageError(`There is no agent "${agent}"; known: claude. For any other: --agent-cmd '<command>'.`);
}

/** This process as a holder of the lease. */
export function thisRunner(): Omit<Lease, "token" | "acquiredAt"> {
  const procStartedAt = procStart(process.pid);
  return {
    owner: `runner:${process.pid}.${randomBytes(3).toString("hex")}`,
    pid: process.pid,
    procStart: procStartedAt,
    host: hostname(),
  };
}

export interface EngineSetup {
  readonly store: Store;
  readonly project: string;
  readonly agent: Agent;
  readonly notifier: Notifier;
  readonly self: Omit<Lease, "token" | "acquiredAt">;
  readonly firing: boolean;
  readonly observe: (news: EngineNews) => void;
  readonly clock?: Clock;
  /** Who notices that somebody wrote into the published state. */
  readonly goalFiles?: GoalFiles;
  /** Instead of the agents that goals name. */
  readonly goalAgent?: Agent;
  /** Backlogs are run here too. */
  readonly backlogs?: boolean;
  /** The live conversation that turns go to; judges and tasks that want none get a process of their own. */
  readonly conversation?: { readonly host: Host; readonly headless: () => Agent };
}

/** A goal has few turns, and each of them is part of its record. */
const GOAL_RUNS: LaunchOptions = { keepRuns: Number.POSITIVE_INFINITY };

export function createEngine(setup: EngineSetup): Engine {
  const { project, clock = systemClock, goalFiles, goalAgent, conversation, backlogs, ...parts } = setup;
  const goals: GoalParts = {
    agentFor: (spec, role) => {
      if (conversation !== undefined && role === "work") return setup.agent;
      return goalAgent ?? agentFor(spec, project, process.env, GOAL_RUNS);
    },
    workspace: createWorkspace(project),
    protection: createProtection(project),
    checkpoints: createCheckpoints(project, { now: clock.now }),
    newNonce: () => randomBytes(8).toString("hex"),
    wasStateEdited: () => goalFiles?.wasStateEdited() ?? false,
  };
  const backlog = !backlogs
    ? {}
    : { backlog: createBacklogParts(project, goals.newNonce, conversation && setup.agent) };
  const checker = createCommandChecker(project);
  return new Engine({ ...parts, ...conversation, ...backlog, goals, clock, checker });
}

function createBacklogParts(
  project: string,
  newNonce: () => string,
  /** The live conversation that starts the agents of stories as sub-agents of its own. */
  conversation: Agent | undefined,
): BacklogParts {
  return {
    newNonce,
    agentFor: (spec, dir) =>
      conversation === undefined ? agentFor(spec, dir, process.env, GOAL_RUNS) : bySubAgent(conversation),
    checkerFor: (dir) => createCommandChecker(dir),
    places: createStoryPlaces(project),
    files: createStoryFiles(project),
  };
}

export function newLoopId(): string {
  return randomBytes(4).toString("hex");
}
