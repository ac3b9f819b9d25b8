/** A project with the scripted agent of acp-agent.mjs in it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AcpAgentOptions, createAcpAgent } from "../../../src/agents/acp/acp-agent.ts";
import { type AcpProfile, plainProfile } from "../../../src/agents/acp/profiles.ts";
import type { Turn } from "../../../src/ports/agent.ts";
import { makeProject, makeTurn, type Project } from "../../fixtures/agents/project.ts";
import { until } from "../until.ts";

export const SCRIPTED_AGENT = fileURLToPath(new URL("acp-agent.mjs", import.meta.url));

/** A step of the script, see acp-agent.mjs. */
export type Step = Readonly<Record<string, unknown>>;

export interface AcpWorld {
  readonly project: Project;
  readonly dir: string;
  agent(
    options?: Partial<AcpAgentOptions>,
    nature?: object,
    profile?: Partial<AcpProfile>,
  ): ReturnType<typeof createAcpAgent>;
  path(name: string): string;
  read(name: string): string;
  /** Waits for a file with a pid in it. */
  pidIn(name: string): Promise<number>;
  /** All that the agent was sent. */
  sent(): readonly { readonly method?: string; readonly params?: Record<string, unknown> }[];
  /** Process and session of each prompt that came through. */
  prompts(): readonly (readonly [pid: number, session: string])[];
  close(): Promise<void>;
}

export async function makeAcpWorld(): Promise<AcpWorld> {
  const project = await makeProject(`it's a "project"`);
  const agents: ReturnType<typeof createAcpAgent>[] = [];
  const path = (name: string) => join(project.dir, name);
  const read = (name: string) => (existsSync(path(name)) ? readFileSync(path(name), "utf8") : "");
  const lines = (name: string) => read(name).split("\n").filter(Boolean);
  return {
    project,
    dir: project.dir,
    path,
    read,
    agent(options = {}, nature = {}, profile = {}) {
      const agent = createAcpAgent({
        profile: { ...plainProfile("scripted"), ...profile },
        program: { command: `exec '${process.execPath}' '${SCRIPTED_AGENT}'` },
        projectDir: project.dir,
        env: { ...process.env, ACP_AGENT: JSON.stringify(nature), ACP_LOG: path("sent.jsonl") },
        killGraceMs: 200,
        ...options,
      });
      agents.push(agent);
      return agent;
    },
    pidIn: (name) => until(() => Number(read(name).trim()) || null, `${name} has a pid`),
    sent: () => lines("sent.jsonl").map((line) => JSON.parse(line)),
    prompts: () =>
      lines("prompts.txt").map((line) => {
        const [pid, session = ""] = line.split(" ");
        return [Number(pid), session] as const;
      }),
    async close() {
      await Promise.all(agents.map((agent) => agent.close()));
      await project.remove();
    },
  };
}

let turns = 0;

/** A turn of a goal that works, whose agent follows the script. */
export function workTurn(steps: readonly Step[] | string, turn: Partial<Turn> = {}): Turn {
  return makeTurn({
    id: `aabbccdd-${++turns}`,
    text: typeof steps === "string" ? steps : JSON.stringify(steps),
    env: { LOOP_KIND: "work", LOOP_ROLE: "generator", LOOP_NONCE: "n0nce" },
    ...turn,
  });
}
