/** The task files of other loop tools. Each task is read separately, so an invalid task does not affect the others. */
import * as z from "zod";
import type { Invalid } from "./fault.ts";

const moment = z
  .union([
    z.number().int().nonnegative(),
    z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
  ])
  .nullish()
  .transform((at) => at ?? null);

/** `.claude/scheduled_tasks.json` */
const claudeTask = z.object({
  id: z.string(),
  cron: z.string(),
  prompt: z.string().min(1),
  recurring: z.boolean().default(false),
  createdAt: moment,
});

/** `.pi/loop-tasks.json` */
const piTask = z.object({
  id: z.string(),
  cronExpr: z.string(),
  prompt: z.string().min(1),
  recurring: z.boolean().default(true),
  createdAt: moment,
  expiresAt: moment,
});

const schemas = {
  claude: claudeTask.transform((task) => ({ ...task, expiresAt: null })),
  pi: piTask.transform(({ cronExpr, ...task }) => ({ ...task, cron: cronExpr })),
} as const;

export type ForeignTask = z.output<(typeof schemas)[ForeignTool]>;

type ForeignFile =
  | { readonly kind: "ok"; readonly tasks: readonly (ForeignTask | { readonly fault: string })[] }
  | Invalid;

export type ForeignTool = keyof typeof schemas;

export function parseForeignFile(tool: ForeignTool, content: unknown): ForeignFile {
  const list = Array.isArray(content) ? content : (content as { tasks?: unknown } | null)?.tasks;
  if (!Array.isArray(list)) return { kind: "invalid", message: "it has no list of tasks" };
  return { kind: "ok", tasks: list.map((item) => parseTask(tool, item)) };
}

function parseTask(tool: ForeignTool, item: unknown): ForeignTask | { fault: string } {
  const result = schemas[tool].safeParse(item);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const id = typeof item === "object" && item !== null && "id" in item ? String(item.id) : "without an id";
  return { fault: `task ${id}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}` };
}
