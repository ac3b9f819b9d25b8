/** The command `loop`. Everything that a person did wrong ends here in one sentence and an exit code. */
import { CommanderError } from "commander";
import { LoopError } from "../errors.ts";
import { EXIT } from "./exit-codes.ts";
import { createIo } from "./io.ts";
import { createProgram } from "./program.ts";

const io = createIo(process.env);

async function main(argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv[0] === "?" ? ["help", ...argv.slice(1)] : [...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    // commander has said it already; only its own exit codes are not ours
    return EXIT.usage;
  }
  if (error instanceof LoopError) {
    io.say(`loop: ${error.message}`);
    if (error.hint !== null) io.say(`  ${error.hint}`);
    return error.code === "usage" ? EXIT.usage : EXIT.failure;
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const text = error instanceof Error ? error.message : String(error);
  io.say(`loop: ${text}`);
  // A stack helps only where the fault is ours.
  if (code === undefined && error instanceof Error && process.env.LOOP_DEBUG === "1")
    io.say(error.stack ?? "");
  return EXIT.failure;
}

process.exitCode = await main(process.argv.slice(2));
