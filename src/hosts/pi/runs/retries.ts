/**
 * pi tries a request that failed again by itself, after a pause. Versions before 0.80.4 do not tell of it: between
 * two attempts they look idle. How long to wait before an error is taken for the end of it is what this knows.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { readSmall } from "../../../system/files.ts";
import { asObject } from "./run-end.ts";

export interface Retries {
  readonly most: number;
  readonly firstMs: number;
}

/** From the end of the pause to the start of the next attempt. */
const MARGIN_MS = 1_500;
const DEFAULTS = { enabled: true, maxRetries: 3, baseDelayMs: 2_000 };

/** The project's settings stand over the person's. */
export function readRetries(project: string, env: NodeJS.ProcessEnv): Retries {
  const agentDir = env.PI_CODING_AGENT_DIR || join(homedir(), ".pi", "agent");
  const files = [join(agentDir, "settings.json"), join(project, ".pi", "settings.json")];
  const said = files.map((file) => asObject(asObject(parse(readSmall(file))).retry));
  const { enabled, maxRetries, baseDelayMs } = Object.assign({}, DEFAULTS, ...said) as Record<
    string,
    unknown
  >;
  return {
    most: enabled === false ? 0 : countOr(maxRetries, DEFAULTS.maxRetries),
    firstMs: countOr(baseDelayMs, DEFAULTS.baseDelayMs),
  };
}

/** After this many errors in a row: how long another attempt may still come. */
export function waitForRetry({ most, firstMs }: Retries, errors: number): number {
  return errors === 0 || errors > most ? 0 : firstMs * 2 ** (errors - 1) + MARGIN_MS;
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

function countOr(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : otherwise;
}
