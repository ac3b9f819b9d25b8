import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/** The program that a shell would start for `name`, as an absolute path. Starts nothing. */
export function findExecutable(name: string, env: NodeJS.ProcessEnv): string | null {
  if (name === "" || name.includes("\0")) return null;
  if (name.includes("/")) return isExecutable(name) ? resolve(name) : null;
  // An empty entry means the current folder to a shell. A program must not come from whatever folder, which
  // may be a repository that nobody trusted, so empty and relative entries do not count here.
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
