import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/** The absolute path of the program that a shell would start for `name`. Starts nothing. */
export function findExecutable(name: string, env: NodeJS.ProcessEnv): string | null {
  if (name === "" || name.includes("\0")) return null;
  if (name.includes("/")) return isExecutable(name) ? resolve(name) : null;
  // An empty entry means the current folder, maybe an untrusted repository: only absolute entries count.
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
