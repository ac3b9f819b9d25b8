/**
 * `loop agents`: lists the installed agents, how loop drives each of them, and which agent gets the turns.
 *
 * JSON: `{ version: 1, chosen, found, problem, agents: [{ name, title, installed, driver, executable, version, problem,
 * ways: [{ driver, program, executable }], install }] }`. `chosen`: the value for `--agent`, or a command; null when
 * the settings cannot be read, and `problem` says why. `found`: at least one chosen agent is installed.
 */
import { runVersion } from "../../agents/capabilities/program-version.ts";
import { findWay, whySkipped } from "../../agents/find.ts";
import { agentNamed, chooseAgentSpec, isThere } from "../../compose/agent-choice.ts";
import { AGENT_NAMES, type AgentName, KNOWN_AGENTS, renderAgentSpec } from "../../core/agents.ts";
import type { AgentSpec, SingleAgentSpec } from "../../core/goal/goal.ts";
import { LoopError } from "../../errors.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { EXIT } from "../exit-codes.ts";
import { type Io, paint, terminalWidth } from "../io.ts";
import { openProject, type ProjectFlags } from "../project.ts";
import { type Cell, oneLine, renderTable, titles } from "../render/table.ts";
import { listenForStop } from "../run/signals.ts";

/** Some agents start a whole runtime to print their version. */
const VERSION_WITHIN_MS = 10_000;
const SAY_AFTER_MS = 2_000;

type AgentView = Awaited<ReturnType<typeof lookAtAgent>>;

export async function agentsCommand(flags: ProjectFlags, io: Io): Promise<number> {
  // version probes run in their own process group, which Ctrl-C does not reach
  const stop = listenForStop();
  const { env } = process;
  const choice = readChoice(flags, env, io);
  const slow = setTimeout(() => {
    if (!flags.json) io.say("Waiting for the version of each program (at most 10 s).");
  }, SAY_AFTER_MS);
  const agents = await Promise.all(AGENT_NAMES.map((name) => lookAtAgent(name, env, stop.signal)));
  clearTimeout(slow);
  if (stop.signal.aborted) return EXIT.interrupted;
  if (flags.json) io.json({ version: 1, ...viewChoice(choice, env), agents });
  else {
    io.out(renderAgents(agents, io));
    io.say(renderChoice(choice, env));
    io.say("Test one:    loop agents test <name>");
    io.say("Choose one:  --agent <name>, --agent-acp '<command>', --agent-cmd '<command>'");
  }
  return EXIT.ok;
}

type Choice =
  | { readonly kind: "chosen"; readonly spec: AgentSpec }
  | { readonly kind: "unreadable"; readonly error: LoopError };

/** Broken settings do not prevent the list. */
function readChoice(flags: ProjectFlags, env: NodeJS.ProcessEnv, io: Io): Choice {
  try {
    return { kind: "chosen", spec: chooseAgentSpec({}, readConfig(openProject(flags, io)), env) };
  } catch (error) {
    if (!(error instanceof LoopError) || error.code === "usage") throw error;
    return { kind: "unreadable", error };
  }
}

function viewChoice(choice: Choice, env: NodeJS.ProcessEnv): object {
  if (choice.kind === "unreadable") return { chosen: null, found: false, problem: choice.error.message };
  const { spec } = choice;
  return {
    chosen: renderAgentSpec(spec),
    found: singlesOf(spec).some((one) => isThere(one, env)),
    problem: null,
  };
}

function renderChoice(choice: Choice, env: NodeJS.ProcessEnv): string {
  if (choice.kind === "unreadable") return `The chosen agent is not known: ${oneLine(choice.error.message)}`;
  const parts = singlesOf(choice.spec).map(
    (one) => `${oneLine(renderAgentSpec(one))}${isThere(one, env) ? "" : " (not installed)"}`,
  );
  return `Loops in this project use: ${parts.join(", then ")}`;
}

function singlesOf(spec: AgentSpec): readonly SingleAgentSpec[] {
  return spec.kind === "chain" ? spec.agents : [spec];
}

/** Of an agent that is not installed, `driver` and `executable` are null. */
async function lookAtAgent(name: AgentName, env: NodeJS.ProcessEnv, signal: AbortSignal) {
  const { title, install } = KNOWN_AGENTS[name];
  const ways = KNOWN_AGENTS[name].ways.map((way) => {
    const found = findWay(agentNamed(`${name}:${way.driver}`), "work", env);
    return { ...way, executable: found?.executable ?? null };
  });
  const taken = ways.find(({ executable }) => executable !== null);
  const { driver = null, executable = null } = taken ?? {};
  const { version, problem } =
    executable === null
      ? { version: null, problem: whySkipped(agentNamed(name), env) }
      : await runVersion(executable, ["--version"], env, VERSION_WITHIN_MS, signal);
  return { name, title, installed: executable !== null, driver, executable, version, problem, ways, install };
}

function renderAgents(agents: readonly AgentView[], io: Io): string {
  const here = agents.filter(({ installed }) => installed);
  const missing = agents.filter(({ installed }) => !installed);
  const table = (rows: readonly (readonly Cell[])[]) => renderTable(rows, terminalWidth(), io);
  const parts = [
    here.length === 0
      ? "No known agent is on the PATH."
      : table([titles("AGENT", "VERSION", "DRIVEN BY", "PROGRAM"), ...here.map(rowOf)]),
    ...(missing.length === 0
      ? []
      : [
          paint(io, "dim", "NOT INSTALLED"),
          table(
            missing.map(({ name, problem, install }) => [name, { style: "dim", text: problem ?? install }]),
          ),
        ]),
  ];
  return parts.join("\n");
}

/** The preferred driver comes first. A problem stands in the last column, where there is room. */
function rowOf({ name, ways, executable, version, problem }: AgentView): readonly Cell[] {
  const drivers = ways.filter((way) => way.executable !== null).map(({ driver }) => driver);
  const trouble = problem === null ? [] : [{ style: "yellow", text: `${problem}:` } as const];
  return [
    name,
    version ?? { style: "yellow", text: "?" },
    drivers.join(", "),
    [...trouble, executable ?? ""],
  ];
}
