/**
 * pi retries a failed request after a pause. Versions before 0.80.4 do not report that and look idle between two
 * attempts. This file computes how long to wait before an error counts as the end of the run.
 */
import { join } from "node:path";
import { readAnyones } from "../../../system/files.ts";
import { type Fields, fieldOf, isFields, parseFields } from "../../conversation/fields.ts";
import { homeFolder } from "../../conversation/install/data-folder.ts";

export interface Retries {
  readonly most: number;
  readonly firstMs: number;
}

/** From the end of the pause to the next attempt. */
const MARGIN_MS = 1_500;
const DEFAULTS = { enabled: true, maxRetries: 3, baseDelayMs: 2_000 };

/** The project's settings override the person's. */
export function readRetries(project: string, env: NodeJS.ProcessEnv): Retries {
  const files = [personalSettings(env), join(project, ".pi", "settings.json")];
  const said = files.map((file) => fieldOf(parseFields(readAnyones(file)), "retry")).filter(isFields);
  const { enabled, maxRetries, baseDelayMs } = Object.assign({}, DEFAULTS, ...said) as Fields;
  return {
    most: enabled === false ? 0 : countOr(maxRetries, DEFAULTS.maxRetries),
    firstMs: countOr(baseDelayMs, DEFAULTS.baseDelayMs),
  };
}

/** The file of pi's settings for all projects. */
export function personalSettings(env: NodeJS.ProcessEnv): string {
  return join(env.PI_CODING_AGENT_DIR || join(homeFolder(env), ".pi", "agent"), "settings.json");
}

/** How long to wait for another attempt after this many errors in a row. */
export function waitForRetry({ most, firstMs }: Retries, errors: number): number {
  return errors === 0 || errors > most ? 0 : firstMs * 2 ** (errors - 1) + MARGIN_MS;
}

function countOr(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : otherwise;
}
