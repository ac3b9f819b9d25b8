/**
 * `loop install pi` and `loop uninstall pi`.
 *
 * JSON: `{ version: 1, client, clientVersion, folder, copied, notes }`; of `uninstall`: `{ version: 1, client, removed, kept }`.
 */
import { usageError } from "../../errors.ts";
import { installPi, uninstallPi } from "../../hosts/pi/install.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";

interface PiFlags {
  readonly json?: boolean;
  readonly scope?: string;
  readonly dryRun?: boolean;
}

export async function installPiCommand(flags: PiFlags, io: Io): Promise<number> {
  refuse(flags);
  const done = await installPi(process.env);
  const text = `The extension for pi is ${done.copied ? "now" : "already"} installed in ${done.folder}`;
  answer(flags, io, { version: 1, client: "pi", ...done }, text);
  if (flags.json) return EXIT.ok;
  for (const note of done.notes) io.say(note);
  io.say("Type in pi: /loop 5m check the deploy, /loop until npm test passes, /loop help");
  return EXIT.ok;
}

export async function uninstallPiCommand(flags: PiFlags, io: Io): Promise<number> {
  refuse(flags);
  const { removed, kept } = await uninstallPi(process.env);
  const text = removed.length === 0 ? "Loopwright is not installed in pi." : `Removed ${removed.join(", ")}.`;
  return answer(flags, io, { version: 1, client: "pi", removed, kept }, text);
}

/** pi installs packages for a person only, and changes its files itself. */
function refuse({ scope = "user", dryRun }: PiFlags): void {
  if (scope !== "user")
    throw usageError("The extension for pi works only with --scope user (for you, in all projects).");
  if (dryRun) throw usageError("--dry-run works only for codex, gemini, cursor, opencode and copilot.");
}
