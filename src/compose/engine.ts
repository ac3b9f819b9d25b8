/** The composition root of the engine: puts the adapters together. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { bySubAgent } from "../agents/by-sub-agent.ts";
import { createFinder } from "../agents/finder.ts";
import { withMask } from "../agents/masked.ts";
import { createCommandAgent } from "../agents/process/command.ts";
import { createWorkspace } from "../checks/files/workspace.ts";
import { createProtection } from "../checks/protection/protection.ts";
import { createCommandChecker } from "../checks/run-command.ts";
import type { AgentSpec } from "../core/goal/goal.ts";
import { maskAll } from "../core/secrets/mask.ts";
import { Engine, type EngineNews } from "../engine/engine.ts";
import type { BacklogParts, GoalParts, Host } from "../engine/parts.ts";
import { createCheckpoints } from "../git/checkpoints/checkpoints.ts";
import { createStoryPlaces } from "../git/story-places.ts";
import { createToolServer } from "../hosts/mcp/tool-server.ts";
import type { Agent, TurnControl } from "../ports/agent.ts";
import type { Clock } from "../ports/clock.ts";
import type { Notifier } from "../ports/notifier.ts";
import type { Lease, Store } from "../ports/store.ts";
import type { StoryFiles } from "../ports/stories.ts";
import { isMaskOff } from "../store/files/mask-setting.ts";
import { permissionsOf } from "../store/files/permissions.ts";
import { readPrices } from "../store/files/prices-file.ts";
import { createStoryFiles } from "../store/files/story-files.ts";
import { systemClock } from "../system/clock.ts";
import { procStart } from "../system/process.ts";
import { currentMask, stopMasking } from "../system/secrets.ts";
import { type AgentParts, agentFor } from "./agents.ts";

/** Finds and ends turns of any agent. Starts none. */
export function createReconciler(project: string): Agent {
  return createFinder(createCommandAgent({ command: "true", projectDir: project }), project);
}

export function thisRunner(): Omit<Lease, "token" | "acquiredAt"> {
  const { pid } = process;
  const owner = `runner:${pid}.${randomBytes(3).toString("hex")}`;
  return { owner, pid, procStart: procStart(pid), host: hostname() };
}

export interface EngineSetup {
  readonly store: Store;
  readonly project: string;
  /** The agent for fires of tasks. */
  readonly agent: Agent | AgentSpec;
  readonly notifier: Notifier;
  readonly self: Omit<Lease, "token" | "acquiredAt">;
  readonly firing: boolean;
  readonly observe: (news: EngineNews) => void;
  readonly clock?: Clock;
  /** Replaces the agents that goals name. */
  readonly goalAgent?: Agent;
  readonly backlogs?: boolean;
  /** Asks the person when an agent asks for permission. */
  readonly askPerson?: TurnControl["askPerson"];
  /** The live conversation that gets the turns. Judges, and tasks that need none, get their own process. */
  readonly conversation?: {
    readonly host: Host;
    readonly headless: () => Agent;
    /** Left out: the conversation starts the agents of stories itself. */
    readonly hasSubAgents?: false;
  };
}

export function createEngine(setup: EngineSetup): Engine {
  const { project, clock = systemClock, goalAgent, conversation, backlogs, askPerson, ...parts } = setup;
  if (isMaskOff(project, process.env)) stopMasking();
  const agents = createAgents(project, createToolServer({ store: setup.store, project }), askPerson);
  const agent = "kind" in setup.agent ? agents.get(setup.agent, project, "fires") : withMask(setup.agent);
  const goals: GoalParts = {
    agentFor: (spec, role) => {
      if (conversation !== undefined && role === "work") return agent;
      return goalAgent === undefined ? agents.get(spec, project, role) : withMask(goalAgent);
    },
    workspace: createWorkspace(project),
    protection: createProtection(project),
    checkpoints: createCheckpoints(project, { now: clock.now }),
    newNonce: () => randomBytes(8).toString("hex"),
    wasStateEdited: () => setup.store.published?.wasStateEdited() ?? false,
  };
  const backlog: BacklogParts = {
    newNonce: goals.newNonce,
    // the live conversation starts the agents of stories as its sub-agents
    agentFor: (spec, dir) =>
      conversation === undefined || conversation.hasSubAgents === false
        ? agents.get(spec, dir, "work")
        : bySubAgent(agent),
    checkerFor: (dir) => createCommandChecker(dir),
    places: createStoryPlaces(project),
    files: withMaskedFiles(createStoryFiles(project)),
  };
  const checker = createCommandChecker(project);
  return new Engine({
    ...parts,
    ...conversation,
    agent,
    goals,
    clock,
    checker,
    close: agents.close,
    ...(backlogs ? { backlog } : {}),
  });
}

/** Agents write files that go into prompts and evidence. */
function withMaskedFiles(files: StoryFiles): StoryFiles {
  return {
    ...files,
    analysis: (story) => maskAll(currentMask(), files.analysis(story)),
    prompt: (role, facts) => currentMask().text(files.prompt(role, facts)),
  };
}

interface Agents {
  get(spec: AgentSpec, dir: string, use: "work" | "side" | "fires"): Agent;
  close(): Promise<void>;
}

/** Creates each agent once, because some stay warm between turns. */
function createAgents(
  project: string,
  toolServer: ReturnType<typeof createToolServer>,
  askPerson: TurnControl["askPerson"],
): Agents {
  const made = new Map<string, Agent>();
  let settings: Pick<AgentParts, "permissions" | "prices"> | null = null;
  /** The settings of the project, also for an agent in the worktree of a story. A command needs none. */
  const settingsFor = ({ kind }: AgentSpec) => {
    if (kind === "command") return {};
    settings ??= {
      permissions: permissionsOf(project, process.env),
      prices: readPrices({ dir: join(project, ".loop") }, process.env),
    };
    return settings;
  };
  return {
    get: (spec, dir, use) => {
      const key = JSON.stringify([spec, dir, use]);
      const known = made.get(key);
      if (known !== undefined) return known;
      const agent = agentFor(spec, dir, process.env, {
        ...settingsFor(spec),
        ...(askPerson === undefined ? {} : { askPerson }),
        // the answer to a side question is in the last message
        ...(use === "side" ? { use } : { use: "work", toolServer }),
        // a goal has few turns, and its record needs all of them
        ...(use === "fires" ? {} : { keepRuns: Number.POSITIVE_INFINITY }),
      });
      made.set(key, agent);
      return agent;
    },
    close: async () => {
      await Promise.all([...made.values()].map((agent) => agent.close?.()));
      await toolServer.close();
    },
  };
}

export function newLoopId(): string {
  return randomBytes(4).toString("hex");
}
