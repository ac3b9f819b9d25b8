/**
 * `.loop/config.json`: settings of a project. What `checks` says is run only after a person trusted this very content
 * of the file (`loop trust`); all else is names and numbers, of which nothing is ever executed.
 */
import * as z from "zod";
import { type PermissionRules, wrongRules } from "../core/permissions.ts";
import { parseCheckFlag } from "../core/spec/check-flag.ts";
import { parseDuration } from "../core/task/interval.ts";
import { isTimeZone } from "../core/task/zone.ts";
import { agentChoice } from "./agent-name.ts";
import { backlogShape } from "./backlog-config.ts";

/** What holds where the file says nothing, as one would write it there. */
export const DEFAULTS = {
  defaultInterval: "10m",
  maxTasks: 50,
  expires: "7d",
  jitter: true,
  turnTimeout: "1h",
} as const;

const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  context.addIssue("expected a length of time such as 10m, 2h or 7d");
  return z.NEVER;
});

/** null: never. */
const lifetime = z.string().transform((text, context) => {
  if (text === "never") return null;
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  context.addIssue("expected a length of time such as 3d or 30d, or never");
  return z.NEVER;
});

/** In the form of `--check`, and kept in it. */
const check = z.string().superRefine((text, context) => {
  const parsed = parseCheckFlag(text);
  if (parsed.kind === "wrong") context.addIssue(parsed.message.replace(/\.$/, ""));
});

const permissions = z.unknown().transform((rules, context): PermissionRules => {
  const wrong = wrongRules(rules);
  if (wrong === null) return rules as PermissionRules;
  context.addIssue(wrong);
  return z.NEVER;
});

/** The file goes in, lengths of time come out in milliseconds. */
export const configSchema = z
  .strictObject({
    $schema: z.string().optional(),
    /** Interval of `loop <prompt>` with none given. */
    defaultInterval: duration.prefault(DEFAULTS.defaultInterval),
    /** Live tasks at the most. */
    maxTasks: z.int().min(1).max(100_000).default(DEFAULTS.maxTasks),
    /** When recurring tasks end by themselves. */
    expires: lifetime.prefault(DEFAULTS.expires),
    jitter: z.boolean().default(DEFAULTS.jitter),
    timeZone: z
      .string()
      .refine(isTimeZone, { error: "expected a time zone such as Europe/Paris" })
      .optional(),
    /** The agent that fires go to when the command line names none. */
    agent: agentChoice.optional(),
    /** What agents that ask leave may do. What it allows counts only when a person trusted the file. */
    permissions: permissions.optional(),
    /** A turn that takes longer is stopped. */
    turnTimeout: duration.prefault(DEFAULTS.turnTimeout),
    ...backlogShape,
    /** Criteria of every goal here. */
    checks: z.array(check).max(100).optional(),
  })
  .transform(({ $schema: _, defaultInterval, expires, turnTimeout, ...rest }) => ({
    ...rest,
    defaultIntervalMs: defaultInterval,
    expiresMs: expires,
    turnTimeoutMs: turnTimeout,
  }));

export type Config = z.output<typeof configSchema>;

export type ConfigResult = { kind: "ok"; config: Config } | { kind: "invalid"; message: string };

export function parseConfig(content: unknown): ConfigResult {
  const result = configSchema.safeParse(content);
  if (result.success) return { kind: "ok", config: result.data };
  const issue = result.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return { kind: "invalid", message: `${where}${issue?.message ?? "not valid"}` };
}

/** The same, from the text of the file. */
export function parseConfigText(text: string): ConfigResult {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return { kind: "invalid", message: `not JSON: ${(error as Error).message}` };
  }
  return parseConfig(content);
}

export function defaultConfig(): Config {
  return configSchema.parse({});
}
