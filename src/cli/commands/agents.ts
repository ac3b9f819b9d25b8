/** `loop agents`: which agents are here and how each is driven. `loop agents test <name>`: a live self-test. */

import { chooseAgentSpec } from "../../agent-choice.ts";
import { runVersion } from "../../agents/capabilities-version.ts";
import { type FoundWay, findWay } from "../../agents/find-way.ts";
import { AGENT_NAMES, type AgentName, KNOWN_AGENTS, renderAgentSpec } from "../../core/agents.ts";
import { readConfig } from "../../store/config-file.ts";
import { EXIT } from "../exit-codes.ts";
import { type Io, terminalWidth } from "../io.ts";
import { openProject, type ProjectFlags } from "../project.ts";
import { type Cell, renderTable } from "../render/table.ts";

export interface AgentsFlags extends ProjectFlags {
  readonly json?: boolean;
}

/** Some load a whole runtime before they tell it. */
const VERSION_WITHIN_MS = 10_000;

const DRIVEN: Readonly<Record<FoundWay["driver"], string>> = {
  stream: "its JSON stream, a process for each turn",
  acp: "the Agent Client Protocol, kept warm",
  rpc: "its own RPC",
};

interface AgentView {
  readonly name: AgentName;
  readonly title: string;
  readonly installed: boolean;
  readonly driver: FoundWay["driver"] | null;
  readonly executable: string | null;
  readonly version: string | null;
  readonly problem: string | null;
  readonly install: string;
}

export async function agentsCommand(flags: AgentsFlags, io: Io): Promise<number> {
  const { env } = process;
  const agents = await Promise.all(AGENT_NAMES.map((name) => lookAtAgent(name, env)));
  const chosen = renderAgentSpec(chooseAgentSpec({}, readConfig(openProject(flags, io)), env));
  if (flags.json) {
    io.json({ chosen, agents });
    return EXIT.ok;
  }
  io.out(
    renderTable(
      [["AGENT", "VERSION", "DRIVEN BY", ""].map(heading), ...agents.map(rowOf)],
      terminalWidth(),
      io,
    ),
  );
  io.say(`Turns here go to: ${chosen}. Another: --agent <name>, or "agent" in .loop/config.json.`);
  io.say("Any other: --agent-acp or --agent-cmd '<command>'. To try one: loop agents test <name>");
  return EXIT.ok;
}

async function lookAtAgent(name: AgentName, env: NodeJS.ProcessEnv): Promise<AgentView> {
  const { title, install } = KNOWN_AGENTS[name];
  const way = findWay({ name, driver: null }, "work", env);
  if (way === null)
    return {
      name,
      title,
      installed: false,
      driver: null,
      executable: null,
      version: null,
      problem: null,
      install,
    };
  const { version, problem } = await runVersion(way.executable, ["--version"], env, VERSION_WITHIN_MS);
  const { driver, executable } = way;
  return { name, title, installed: true, driver, executable, version, problem, install };
}

const heading = (text: string): Cell => ({ style: "dim", text });

function rowOf({ name, driver, executable, version, problem, install }: AgentView): readonly Cell[] {
  if (driver === null)
    return [name, "", { style: "dim", text: "not installed" }, { style: "dim", text: install }];
  return [name, version ?? { style: "yellow", text: problem ?? "" }, DRIVEN[driver], executable ?? ""];
}
