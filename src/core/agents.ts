/** The known agents and their drivers, as data. `src/agents` runs them. */
import { type Invalid, invalid } from "./base.ts";
import type { AgentSpec, SingleAgentSpec } from "./goal/goal.ts";

export const AGENT_NAMES = ["claude", "codex", "gemini", "opencode", "copilot", "qwen", "pi"] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

/** `stream`: one process per turn that prints JSON. `acp`, `rpc`: one process for many turns. */
export type Driver = "stream" | "acp" | "rpc";

export interface AgentWay {
  readonly driver: Driver;
  /** The program's name on the PATH. */
  readonly program: string;
}

interface KnownAgent {
  readonly title: string;
  /** The best first. The first whose program is installed is used. */
  readonly ways: readonly [AgentWay, ...AgentWay[]];
  /** The command that installs the program of the first way. */
  readonly install: string;
}

export const KNOWN_AGENTS: Readonly<Record<AgentName, KnownAgent>> = {
  claude: {
    title: "Claude Code",
    ways: [
      { driver: "stream", program: "claude" },
      { driver: "acp", program: "claude-agent-acp" },
    ],
    install: "npm install -g @anthropic-ai/claude-code",
  },
  codex: {
    title: "Codex",
    ways: [
      { driver: "acp", program: "codex-acp" },
      { driver: "stream", program: "codex" },
    ],
    install: "npm install -g @openai/codex @agentclientprotocol/codex-acp",
  },
  gemini: {
    title: "Gemini CLI",
    ways: [
      { driver: "acp", program: "gemini" },
      { driver: "stream", program: "gemini" },
    ],
    install: "npm install -g @google/gemini-cli",
  },
  opencode: {
    title: "opencode",
    ways: [
      { driver: "acp", program: "opencode" },
      { driver: "stream", program: "opencode" },
    ],
    install: "npm install -g opencode-ai",
  },
  copilot: {
    title: "GitHub Copilot CLI",
    ways: [{ driver: "acp", program: "copilot" }],
    install: "npm install -g @github/copilot",
  },
  qwen: {
    title: "Qwen Code",
    ways: [{ driver: "acp", program: "qwen" }],
    install: "npm install -g @qwen-code/qwen-code",
  },
  pi: {
    title: "pi",
    ways: [{ driver: "rpc", program: "pi" }],
    install: "npm install -g @earendil-works/pi-coding-agent",
  },
};

export interface NamedAgent {
  readonly name: AgentName;
  /** null: the best available. */
  readonly driver: Driver | null;
}

/** `codex`, or `codex:acp`. */
export function parseAgentName(text: string): { readonly kind: "ok"; readonly agent: NamedAgent } | Invalid {
  const [name = "", driver, ...rest] = text.trim().split(":");
  if (!isAgentName(name) || rest.length > 0)
    return invalid(`no agent is called "${text.trim()}"; known: ${AGENT_NAMES.join(", ")}`);
  if (driver === undefined) return { kind: "ok", agent: { name, driver: null } };
  const way = KNOWN_AGENTS[name].ways.find((known) => known.driver === driver);
  if (way !== undefined) return { kind: "ok", agent: { name, driver: way.driver } };
  const drivers = KNOWN_AGENTS[name].ways.map((known) => `${name}:${known.driver}`);
  return invalid(`${name} has no such driver; known: ${drivers.join(", ")}`);
}

/** One name, or several: each is the fallback of the one before. */
export function parseAgentList(
  texts: readonly string[],
): { readonly kind: "ok"; readonly spec: AgentSpec } | Invalid {
  const agents: SingleAgentSpec[] = [];
  for (const text of texts) {
    const parsed = parseAgentName(text);
    if (parsed.kind === "invalid") return parsed;
    const name = text.trim();
    if (agents.some((agent) => agent.kind === "named" && agent.name === name))
      return invalid(`${name} is named twice`);
    agents.push({ kind: "named", name });
  }
  const [first] = agents;
  if (first === undefined) return invalid("no agent is named");
  return { kind: "ok", spec: agents.length === 1 ? first : { kind: "chain", agents } };
}

/** As on the command line. */
export function renderAgentSpec(spec: AgentSpec): string {
  switch (spec.kind) {
    case "named":
      return spec.name;
    case "command":
    case "acp":
      return spec.command;
    case "chain":
      return spec.agents.map(renderAgentSpec).join(",");
  }
}

/** A short name. A command line can be long and contain secrets. */
export function shortNameOf(spec: AgentSpec): string {
  if (spec.kind === "chain") return spec.agents.map(shortNameOf).join(",");
  return spec.kind === "named" ? spec.name : spec.kind;
}

function isAgentName(text: string): text is AgentName {
  return (AGENT_NAMES as readonly string[]).includes(text);
}
