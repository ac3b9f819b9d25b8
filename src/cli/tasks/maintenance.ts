/** The prompt for `loop auto` without words (A17): from the project, else from the person, else built in. */
import { homedir } from "node:os";
import { join } from "node:path";
import { readText, readTextThroughLinks } from "../../store/files/read-text.ts";

export function maintenancePrompt(dir: string): string {
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return (
    readText(join(dir, "loop.md"))?.trim() ||
    // a person may keep this file elsewhere and link to it
    readTextThroughLinks(join(config, "loopwright", "loop.md"))?.trim() ||
    BUILT_IN
  );
}

const BUILT_IN = `Maintain this project, one small thing at a time.
Continue unfinished work first. If there is none, run the tests, the type check and the linter, and repair what fails. Then look at open review comments on your own pull requests. Otherwise tidy one thing that you can verify.
Do not start new work. Do not push, publish, delete or send anything. Say in one sentence what you did.`;
