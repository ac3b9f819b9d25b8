/**
 * Decides whether a hook process has work to do. The plugin's shell commands check the same before they start us, but
 * Windows has no such check. A hook next to a live server would give a second answer. Loads no other module.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** For these events the client cannot call the server. */
const SERVERLESS: ReadonlySet<string> = new Set(["SessionStart", "SessionEnd"]);
/** Loop commands work in every folder. */
const ANYWHERE = "UserPromptExpansion";

export function needsHook(event: string, env: NodeJS.ProcessEnv): boolean {
  if (event !== ANYWHERE && !hasProject(env.CLAUDE_PROJECT_DIR || process.cwd())) return false;
  return SERVERLESS.has(event) || !isServed(env);
}

/** Searches up to the root of the git work tree, like the program itself. */
function hasProject(from: string): boolean {
  for (let dir = from; ; dir = dirname(dir)) {
    if (existsSync(join(dir, ".loop"))) return true;
    if (existsSync(join(dir, ".git")) || dir === dirname(dir)) return false;
  }
}

/** Is the server of this client running? The server writes its pid to that file. */
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
