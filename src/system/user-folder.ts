/**
 * What belongs to the person and not to a project: `$XDG_CONFIG_HOME/loopwright` or `~/.config/loopwright`. It has the
 * key (`store/signed/user-key.ts`), what the person trusts (`store/folder/trust.ts`), how far each journal was
 * (`store/signed/reached.ts`) and what git takes instead of a repository's configuration (`git/guard.ts`).
 */
import { lstatSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { LoopError, surroundingsError } from "../errors.ts";
import { errorCode, orNull } from "./files.ts";

/** null: neither variable is usable. The XDG rules say to ignore a relative XDG_CONFIG_HOME. */
export function userFolder({ XDG_CONFIG_HOME: config, HOME: home }: NodeJS.ProcessEnv): string | null {
  if (config !== undefined && isAbsolute(config)) return join(config, "loopwright");
  return home !== undefined && isAbsolute(home) ? join(home, ".config", "loopwright") : null;
}

/** A file that the person wrote there, to read. Without usable variables it is below the home folder of the account. */
export function ownFile(env: NodeJS.ProcessEnv, name: string): string {
  return join(userFolder(env) ?? join(homedir(), ".config", "loopwright"), name);
}

/** Creates the folder of this name in the person's folder. Throws a sentence when that fails, or others can write there. */
export function makeUserFolder(env: NodeJS.ProcessEnv, ...names: readonly string[]): string {
  const base = userFolder(env);
  if (base === null)
    throw surroundingsError(
      "Loopwright needs a folder of yours outside the project: neither HOME nor XDG_CONFIG_HOME is set.",
      "Set HOME to your home folder.",
    );
  const dir = join(base, ...names);
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = errorCode(error) ?? String(error);
    const hint = "Nothing was changed. Make it writable, or set XDG_CONFIG_HOME to a folder that is.";
    throw new LoopError("surroundings", `Cannot create ${dir} (${reason}).`, hint, error);
  }
  const fault = faultOf(dir);
  if (fault !== null) throw surroundingsError(`${dir} ${fault}.`, `Make it private: chmod 700 ${dir}`);
  return dir;
}

/** Another user who can write to this folder could speak for the person. null: nobody else can, or there is none. */
export function faultOf(dir: string): string | null {
  const stat = orNull(() => lstatSync(dir, { throwIfNoEntry: false }));
  if (stat === undefined) return null;
  if (stat === null) return "cannot be read";
  if (!stat.isDirectory()) return "is not a folder";
  if (process.getuid !== undefined && stat.uid !== process.getuid()) return "belongs to another user";
  return (stat.mode & 0o022) === 0 ? null : "is writable for other users";
}
