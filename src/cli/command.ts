/** Runs one command line. Every error ends here as one sentence, a hint and an exit code. */
import { CommanderError } from "commander";
import { LoopError, reasonOf } from "../errors.ts";
import { EXIT } from "./exit-codes.ts";
import type { Io } from "./io.ts";
import { createProgram } from "./program.ts";
import { oneLine } from "./render/table.ts";
import { checkHelpWord, explainParseError } from "./tasks/slips.ts";

/** Returns the exit code; never throws. */
export async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  const words = argv[0] === "?" ? ["help", ...argv.slice(1)] : [...argv];
  try {
    if (words[0] === "help") checkHelpWord(program, words[1]);
    await program.parseAsync(words, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return explain(error, io);
    const wrong = explainParseError(error, program, words);
    return wrong === null ? EXIT.ok : explain(wrong, io);
  }
}

function explain(error: unknown, io: Io): number {
  if (error instanceof LoopError) {
    // The message may quote input, which must stay on one line and must not move the cursor.
    io.say(`loop: ${oneLine(error.message)}`);
    if (error.hint !== null) io.say(`  ${oneLine(error.hint)}`);
    return error.code === "usage" ? EXIT.usage : EXIT.failure;
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const text = reasonOf(error);
  io.say(`loop: ${oneLine(text)}`);
  // A stack trace helps only for bugs in the product.
  if (code === undefined && error instanceof Error && process.env.LOOP_DEBUG === "1")
    io.say(error.stack ?? "");
  return EXIT.failure;
}
