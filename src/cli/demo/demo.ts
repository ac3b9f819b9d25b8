/** `loop demo`: what this program is about, in a folder of its own; no agent, no key, no network. */
import { usageError } from "../../errors.ts";
import type { Io } from "../io.ts";

export async function demoCommand(
  what: string | undefined,
  flags: { json?: boolean },
  io: Io,
): Promise<number> {
  switch (what) {
    case undefined:
    case "goal":
      return (await import("./demo-goal.ts")).demoGoal(flags, io);
    case "tasks":
      return (await import("./demo-tasks.ts")).demoTasks(flags, io);
    default:
      throw usageError(`There is no demo "${what}"; there are goal and tasks.`);
  }
}
