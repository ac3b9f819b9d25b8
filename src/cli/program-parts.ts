/** Shared by the command tables: `program.ts` and the `*-program.ts` of each family. */
import type { Command } from "commander";
import { stopMasking } from "../system/secrets.ts";
import type { Io } from "./io.ts";
import { flagsBefore } from "./tasks/slips.ts";

/** Takes the arguments as the name of the command lists them, then the flags and the output. Returns the exit code. */
type CommandFunction = (...given: never[]) => Promise<number>;

/** Makes the action of a command. Its module is loaded only when the command is called. */
export type Act = (load: () => Promise<CommandFunction>) => (...given: unknown[]) => Promise<void>;

export function createAct(io: Io, exit: (code: number) => void): Act {
  return (load) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      const flags: { mask?: boolean } = Object.assign(flagsBefore(command), command.opts());
      if (flags.mask === false) stopMasking();
      const run = await load();
      exit(await run(...([...given.slice(0, -2), flags, io] as never[])));
    };
}
