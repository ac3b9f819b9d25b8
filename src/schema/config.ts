/**
 * `.loop/config.json`: the settings of a project. The commands in the file run only after a person trusted exactly this
 * content (`loop trust`). All other settings are names and numbers.
 */
import * as z from "zod";
import { type PermissionRules, wrongRules } from "../core/permissions.ts";
import { parseCheckFlag } from "../core/spec/check-flag.ts";
import { parseDuration } from "../core/task/interval.ts";
import { isTimeZone } from "../core/task/zone.ts";
import { agentChoice } from "./agent-name.ts";
import { backlogShape } from "./backlog-config.ts";
import { type Invalid, parseJsonText, renderFault } from "./fault.ts";

/** The defaults, in the form in which a person writes them. */
export const DEFAULTS = {
  defaultInterval: "10m",
  maxTasks: 50,
  expires: "7d",
  jitter: true,
  turnTimeout: "1h",
} as const;

function toMs(text: string, context: z.RefinementCtx, examples: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  context.addIssue(`expected a length of time such as ${examples}`);
  return z.NEVER;
}

const duration = z.string().transform((text, context) => toMs(text, context, "10m, 2h or 7d"));

/** null: never. */
const lifetime = z
  .string()
  .transform((text, context) => (text === "never" ? null : toMs(text, context, "3d or 30d, or never")));

/** Has the form of `--check`. */
const check = z.string().superRefine((text, context) => {
  const parsed = parseCheckFlag(text);
  if (parsed.kind === "invalid") context.addIssue(parsed.message.replace(/\.$/, ""));
});

const permissions = z.unknown().transform((rules, context): PermissionRules => {
  const wrong = wrongRules(rules);
  if (wrong === null) return rules as PermissionRules;
  context.addIssue(wrong);
  return z.NEVER;
});

/** Converts durations to milliseconds. */
export const configSchema = z
  .strictObject({
    $schema: z.string().optional(),
    /** The interval of `loop <prompt>` without an interval. */
    defaultInterval: duration.prefault(DEFAULTS.defaultInterval),
    /** The highest number of live tasks. */
    maxTasks: z.int().min(1).max(100_000).default(DEFAULTS.maxTasks),
    /** The lifetime of recurring tasks. */
    expires: lifetime.prefault(DEFAULTS.expires),
    jitter: z.boolean().default(DEFAULTS.jitter),
    timeZone: z
      .string()
      .refine(isTimeZone, { error: "expected a time zone such as Europe/Paris" })
      .optional(),
    /** The agent for fires when the command line names none. */
    agent: agentChoice.optional(),
    /** What agents that ask for permission may do. The engine ignores `allow` until a person trusts the file. */
    permissions: permissions.optional(),
    /** The engine stops a turn that takes longer. */
    turnTimeout: duration.prefault(DEFAULTS.turnTimeout),
    /** Masks secrets in output. The engine ignores `false` until a person trusts the file. */
    mask: z.boolean().default(true),
    ...backlogShape,
    /** Criteria of every goal in the project. */
    checks: z.array(check).max(100).optional(),
  })
  .transform(({ $schema: _, defaultInterval, expires, turnTimeout, ...rest }) => ({
    ...rest,
    defaultIntervalMs: defaultInterval,
    expiresMs: expires,
    turnTimeoutMs: turnTimeout,
  }));

export type Config = z.output<typeof configSchema>;

type ConfigResult = { readonly kind: "ok"; readonly config: Config } | Invalid;

export function parseConfig(content: unknown): ConfigResult {
  const result = configSchema.safeParse(content);
  if (result.success) return { kind: "ok", config: result.data };
  return { kind: "invalid", message: renderFault(result.error) };
}

export function parseConfigText(text: string): ConfigResult {
  return parseJsonText(text, parseConfig);
}

export function defaultConfig(): Config {
  return configSchema.parse({});
}
