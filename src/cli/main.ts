/** The process of the full program: runs the arguments and exits with their exit code. */
import { runCommand } from "./command.ts";
import { createIo } from "./io.ts";
import { surviveLostReaders } from "./run/leave.ts";

const leave = surviveLostReaders();
await leave(await runCommand(process.argv.slice(2), createIo(process.env)));
