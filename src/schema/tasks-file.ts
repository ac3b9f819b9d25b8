/** `.loop/tasks.json` as a person may write it. A missing field takes its default; a computed field is ignored. */
import * as z from "zod";

export const fileTaskSchema = z.object({
  id: z
    .string()
    .regex(/^[0-9a-f]{8}$/, { error: "expected 8 characters of 0-9 and a-f" })
    .optional(),
  prompt: z.string().min(1, { error: "the prompt is empty" }),
  cron: z.string().nullish(),
  everyMs: z.int().min(1000).nullish(),
  tz: z.string().nullish(),
  recurring: z.boolean().default(true),
  state: z.enum(["active", "paused", "missed"]).default("active"),
  createdAt: z.iso.datetime().optional(),
  /** null: never. Default: the setting in the config. */
  expiresAt: z.iso.datetime().nullish(),
  jitterMs: z.int().optional(),
  nextFireAt: z.iso.datetime().nullish(),
  missed: z.enum(["ask", "once", "skip", "all"]).optional(),
  graceMs: z.int().min(1).nullish(),
  timeoutMs: z.int().min(1).optional(),
  expect: z.string().nullish(),
  alertAfter: z.int().min(1).nullish(),
  version: z.int().optional(),
});

export const tasksFileSchema = z.object({
  publishedAt: z.iso.datetime().optional(),
  tasks: z.array(fileTaskSchema),
});
