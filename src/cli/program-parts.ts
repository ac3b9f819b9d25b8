/** Shared by the command tables: `program.ts` and the `*-program.ts` of each family. */
import type { Command } from "commander";
import { stopMasking } from "../system/secrets.ts";
import type { Io } from "./io.ts";
import { flagsBefore } from "./tasks/slips.ts";

/** The implementation of a command. Its module is loaded only when the command is called. */
type Action = (flags: never, args: string[]) => Promise<number>;

export interface ProgramParts {
  readonly io: Io;
  act(action: Action): (...given: unknown[]) => Promise<void>;
}

export function createParts(io: Io, exit: (code: number) => void): ProgramParts {
  return {
    io,
    act:
      (action) =>
      async (...given) => {
        const command = given.at(-1) as Command;
        const flags: { mask?: boolean } = Object.assign(flagsBefore(command), command.opts());
        if (flags.mask === false) stopMasking();
        exit(await action(flags as never, command.args));
      },
  };
}
