/**
 * `loop install pi` and `loop uninstall pi`.
 *
 * JSON: `{ version: 1, client, clientVersion, folder, copied, notes }`; of `uninstall`: `{ version: 1, client, removed, kept }`.
 */
import { usageError } from "../../errors.ts";
import { installPi, uninstallPi } from "../../hosts/pi/install.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";

interface PiFlags {
  readonly json?: boolean;
  readonly scope?: string;
  readonly dryRun?: boolean;
}

export async function installPiCommand(flags: PiFlags, io: Io): Promise<number> {
  refuse(flags);
  const done = await installPi(process.env);
  if (flags.json) io.json({ version: 1, client: "pi", ...done });
  else {
    io.out(`${done.copied ? "Installed" : "Already there:"} the extension for pi, in ${done.folder}`);
    for (const note of done.notes) io.say(note);
    io.say("In a conversation of pi: /loop 5m check the deploy, /loop until npm test passes, /loop help");
  }
  return EXIT.ok;
}

export async function uninstallPiCommand(flags: PiFlags, io: Io): Promise<number> {
  refuse(flags);
  const { removed, kept } = await uninstallPi(process.env);
  if (flags.json) io.json({ version: 1, client: "pi", removed, kept });
  else io.out(removed.length === 0 ? "There was nothing to remove." : `Removed ${removed.join(", ")}.`);
  return EXIT.ok;
}

/** pi keeps its packages for the person, and makes the changes itself. */
function refuse({ scope = "user", dryRun }: PiFlags): void {
  if (scope !== "user")
    throw usageError("pi's extension is installed for you, in all projects: --scope user.");
  if (dryRun) throw usageError("--dry-run is for codex, gemini, cursor, opencode and copilot.");
}
