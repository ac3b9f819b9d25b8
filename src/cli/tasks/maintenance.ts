/** The prompt of a loop that was given none (A17): the project's, else the person's own, else ours. */
import { homedir } from "node:os";
import { join } from "node:path";
import { readText, readTextThroughLinks } from "../../store/files/read-text.ts";

export function maintenancePrompt(dir: string): string {
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return (
    readText(join(dir, "loop.md"))?.trim() ||
    // the person's own files may be kept elsewhere and linked here
    readTextThroughLinks(join(config, "loopwright", "loop.md"))?.trim() ||
    BUILT_IN
  );
}

const BUILT_IN = `Look after this project, one small thing at a time.
Go on with work that is under way and unfinished. If there is none: see whether the tests, the type check and the linter pass and repair what fails; look at open review comments on your own pull requests; otherwise tidy one thing that you can verify.
Do not start anything new, do not push, publish, delete or send anything, and say in one sentence what you did.`;
