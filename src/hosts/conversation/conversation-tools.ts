/** The agent's tools in a live conversation. Each call uses the conversation that is open at that moment. */
import { newLoopId } from "../../compose/engine.ts";
import type { FireId } from "../../core/loop.ts";
import { ownerOf } from "../../core/session.ts";
import { usageError } from "../../errors.ts";
import { localTimeZone, readConfig } from "../../store/files/config-file.ts";
import { ensureLoopDir } from "../../store/folder/loop-dir.ts";
import { loopTools } from "../../tools/loop-tools.ts";
import type { McpTool } from "../mcp/tool.ts";
import type { OpenSeat } from "./open-seat.ts";

interface ToolPlace {
  readonly root: string;
  readonly dir: string;
  /** null: there is no `.loop` folder. */
  openIfThere(): OpenSeat | null;
}

/** `place` throws if the conversation has ended. */
export function conversationTools(place: () => ToolPlace): readonly McpTool[] {
  const open = () => {
    const there = place().openIfThere();
    if (there === null) throw usageError("There is no loop in this project yet.");
    return there;
  };
  const config = () => readConfig({ dir: place().dir });
  const context = {
    get store() {
      return open().store;
    },
    get session() {
      return ownerOf(open().seat.record.session);
    },
    get tz() {
      return localTimeZone(config());
    },
    get maxTasks() {
      return config().maxTasks;
    },
    get expiresMs() {
      return config().expiresMs;
    },
    get jitter() {
      return config().jitter;
    },
    get turnTimeoutMs() {
      return config().turnTimeoutMs;
    },
    now: Date.now,
    newId: newLoopId,
    currentFire: () => (open().seat.running?.id ?? null) as FireId | null,
  };
  return loopTools(context).map((tool) => ({
    ...tool,
    run: async (input, call) => {
      const here = place();
      // only a new task creates `.loop/`; listing does not
      if (tool.name === "CronCreate") ensureLoopDir(here.root);
      try {
        return await tool.run(input, call);
      } finally {
        here.openIfThere()?.engine.nudge();
      }
    },
  }));
}
