/** `loop mcp`: serves the tools for agents to any MCP client over stdio (F6). It runs no loops itself. */
import { newLoopId } from "../../compose/engine.ts";
import { openStoreLate } from "../../compose/open-store.ts";
import type { FireId } from "../../core/loop.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { serveMcp } from "../../hosts/mcp/server.ts";
import { localTimeZone, readConfig } from "../../store/files/config-file.ts";
import { loopTools } from "../../tools/loop-tools.ts";
import { VERSION } from "../../version.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { openProjectToRead, type ProjectFlags } from "../project.ts";
import { isFiring } from "../run/firing.ts";
import { renderRunner } from "../tasks/create.ts";
import { adoptEdits } from "../tasks/requests.ts";

const INSTRUCTIONS =
  "Schedules prompts (Cron…) and reports on goal loops (loop_…) of the project in this folder. A person runs them with `loop up`.";

/** Ends when the client closes stdin or stdout. Only the protocol goes to stdout. */
export async function mcpCommand(flags: ProjectFlags, io: Io): Promise<number> {
  const { LOOP_PROJECT: home, LOOP_FIRE_ID: fire } = process.env;
  const { dir } = openProjectToRead({ ...(home ? { project: home } : {}), ...flags }, io);
  const store = openStoreLate(dir, { now: Date.now, say: io.say });
  const config = readConfig({ dir });
  const tools = loopTools({
    ...config,
    store,
    now: Date.now,
    newId: newLoopId,
    tz: localTimeZone(config),
    session: null,
    currentFire: () => (fire ? (fire as FireId) : null),
    runner: () => renderRunner(liveOwner(store, Date.now()), isFiring(process.env)),
  });
  if (io.interactive) io.say("This is an MCP server. Let a client start it: claude mcp add loop -- loop mcp");

  /** Shared by calls that arrive together. */
  let adopting: Promise<void> | null = null;
  const adopt = async (): Promise<void> => {
    await store.catchUp();
    adopting ??= adoptEdits({ store }, config, io).finally(() => {
      adopting = null;
    });
    await adopting;
  };
  await serveMcp({
    name: "loop",
    version: VERSION,
    instructions: INSTRUCTIONS,
    input: process.stdin,
    output: process.stdout,
    tools: tools.map((tool) => ({
      ...tool,
      run: async (input, call) => {
        await adopt();
        return tool.run(input, call);
      },
    })),
  });
  return EXIT.ok;
}
