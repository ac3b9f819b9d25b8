/** Reads the project's settings, `.loop/config.json`. */
import { join } from "node:path";
import { LoopError, usageError } from "../../errors.ts";
import { type Config, defaultConfig, parseConfig } from "../../schema/config.ts";
import { systemTimeZone } from "../../system/time-zone.ts";
import { parseJsonFile, readText } from "./read-text.ts";

/** Throws a sentence with the place of the first fault. */
export function readConfig(project: { readonly dir: string }): Config {
  const path = join(project.dir, "config.json");
  const text = readText(path);
  if (text === null) return defaultConfig();
  const result = parseConfig(parseJsonFile(path, text));
  if (result.kind === "invalid")
    throw new LoopError("surroundings", `${path}: ${result.message}.`, "Fix or remove it.");
  return result.config;
}

export function localTimeZone(config: Pick<Config, "timeZone">): string {
  const zone = config.timeZone ?? systemTimeZone(process.env);
  if (zone !== null) return zone;
  const { TZ } = process.env;
  throw usageError(
    TZ === undefined ? "This machine's time zone has no name." : `TZ=${TZ} is not a known time zone.`,
    "Set TZ, or use --tz, for example --tz Europe/Paris.",
  );
}
