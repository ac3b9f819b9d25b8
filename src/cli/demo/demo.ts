/** `loop demo`: shows the product in a temporary folder, without an agent, a key or a network. */
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
      throw usageError(`There is no demo "${what}". Type loop demo goal or loop demo tasks.`);
  }
}
