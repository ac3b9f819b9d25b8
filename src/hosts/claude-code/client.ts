/** The client that started this process, read from the environment. */
import { readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import type { ProcessRef } from "../../core/base.ts";
import { findProject } from "../../store/folder/loop-dir.ts";
import { procStart } from "../../system/process.ts";

export interface Client {
  readonly process: ProcessRef;
  readonly root: string;
  /** The session id when the client started this process. The client may have changed it since. */
  readonly session: string;
  /** The file with the pid of the running server; null: no such file. */
  readonly serverFile: string | null;
}

export function readClient(env: NodeJS.ProcessEnv, parent = process.ppid): Client {
  const named = Number(env.CLAUDE_PID);
  const pid = Number.isSafeInteger(named) && named > 1 ? named : parent;
  const { CLAUDE_PLUGIN_DATA: data = "" } = env;
  return {
    process: { pid, start: procStart(pid) },
    root: findProject(env.CLAUDE_PROJECT_DIR || process.cwd()),
    session: env.CLAUDE_CODE_SESSION_ID ?? "",
    serverFile: data === "" ? null : join(data, `server-${pid}`),
  };
}

/** The environment without the client's own variables: checks and agents started here are not part of the conversation. */
export function withoutClient(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own =
    /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_EFFORT|AI_AGENT|CLAUDE_PLUGIN_|CLAUDE_PROJECT_DIR|CLAUDE_ENV_FILE|CLAUDE_CODE_(?:SESSION|CHILD|MESSAGING|ENTRYPOINT))/;
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)));
  const executable = executableOf(Number(env.CLAUDE_PID) || process.ppid);
  return executable === null ? kept : { ...kept, LOOP_CLAUDE: executable };
}

/** null: the system does not report it. */
function executableOf(pid: number): string | null {
  try {
    const path = readlinkSync(`/proc/${pid}/exe`);
    return basename(path).startsWith("claude") ? path : null;
  } catch {
    return null;
  }
}
