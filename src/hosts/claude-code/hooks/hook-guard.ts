/**
 * Is there anything for a hook on its own to do? The plugin's commands ask this in the shell before they start us; on
 * Windows they cannot, and a hook that answered beside a live server would answer twice. Loads nothing.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** At these the client cannot ask the server. */
const SERVERLESS: ReadonlySet<string> = new Set(["SessionStart", "SessionEnd"]);
/** What is typed at us, in whatever folder. */
const ANYWHERE = "UserPromptExpansion";

export function needsHook(event: string, env: NodeJS.ProcessEnv): boolean {
  if (event !== ANYWHERE && !hasProject(env.CLAUDE_PROJECT_DIR || process.cwd())) return false;
  return SERVERLESS.has(event) || !isServed(env);
}

/** Up to the root of the git work tree, as the program itself looks for it. */
function hasProject(from: string): boolean {
  for (let dir = from; ; dir = dirname(dir)) {
    if (existsSync(join(dir, ".loop"))) return true;
    if (existsSync(join(dir, ".git")) || dir === dirname(dir)) return false;
  }
}

/** The server of this very client wrote its pid there. */
function isServed({ CLAUDE_PLUGIN_DATA: data, CLAUDE_PID: client }: NodeJS.ProcessEnv): boolean {
  if (data === undefined || client === undefined) return false;
  try {
    const [first] = readFileSync(join(data, `server-${client}`), "utf8").split("\n");
    const pid = Number(first);
    if (!Number.isSafeInteger(pid) || pid < 2) return false;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
