/** Where installed files are kept. The folder survives npx, updates and deleted checkouts. Writes nothing. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Our own folder, shared by all clients. */
export function dataFolder(env: NodeJS.ProcessEnv): string {
  const data =
    absolutePath(env.XDG_DATA_HOME) ??
    (process.platform === "win32" ? absolutePath(env.LOCALAPPDATA) : null) ??
    join(homeFolder(env), ".local", "share");
  return join(data, "loopwright");
}

export function homeFolder(env: NodeJS.ProcessEnv): string {
  return absolutePath(env.HOME) ?? homedir();
}

export function absolutePath(path: string | undefined): string | null {
  return path !== undefined && isAbsolute(path) ? path : null;
}
