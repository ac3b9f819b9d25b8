/** `.loop/config.json`: settings of a project. Names and numbers only; nothing in it is ever executed. */
import { z } from "zod";
import { parseDuration } from "../core/task/interval.ts";
import { isTimeZone } from "../core/task/zone.ts";

const duration = z.string().refine((text) => (parseDuration(text) ?? 0) > 0, {
  error: "expected a length of time such as 10m, 2h or 7d",
});

export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  /** Interval of `loop <prompt>` with none given. */
  defaultInterval: duration.default("10m"),
  /** Live tasks at the most. */
  maxTasks: z.int().min(1).max(100_000).default(50),
  /** When recurring tasks end by themselves. */
  expires: z
    .string()
    .refine((text) => text === "never" || (parseDuration(text) ?? 0) > 0, {
      error: "expected a length of time such as 3d or 30d, or never",
    })
    .default("7d"),
  jitter: z.boolean().default(true),
  timeZone: z.string().refine(isTimeZone, { error: "expected a time zone such as Europe/Paris" }).optional(),
  /** The agent that fires go to when the command line names none. */
  agent: z.enum(["claude"]).optional(),
  /** A turn that takes longer is stopped. */
  turnTimeout: duration.default("1h"),
});

export type Config = z.infer<typeof configSchema>;

export type ConfigResult = { kind: "ok"; config: Config } | { kind: "invalid"; message: string };

export function parseConfig(content: unknown): ConfigResult {
  const result = configSchema.safeParse(content);
  if (result.success) return { kind: "ok", config: result.data };
  const issue = result.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return { kind: "invalid", message: `${where}${issue?.message ?? "not valid"}` };
}

export function defaultConfig(): Config {
  return configSchema.parse({});
}
