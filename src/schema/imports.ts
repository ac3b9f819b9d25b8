/** The task files of other loop tools. Each task is read separately, so an invalid task does not affect the others. */
import * as z from "zod";

const moment = z.union([
  z.number().int().nonnegative(),
  z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
]);

/** `.claude/scheduled_tasks.json` */
const claudeTask = z.object({
  id: z.string(),
  cron: z.string(),
  prompt: z.string().min(1),
  recurring: z.boolean().default(false),
  createdAt: moment.nullish(),
});

/** `.pi/loop-tasks.json` */
const piTask = z.object({
  id: z.string(),
  cronExpr: z.string(),
  prompt: z.string().min(1),
  recurring: z.boolean().default(true),
  createdAt: moment.nullish(),
  expiresAt: moment.nullish(),
});

export interface ForeignTask {
  readonly id: string;
  readonly cron: string;
  readonly prompt: string;
  readonly recurring: boolean;
  readonly createdAt: number | null;
  readonly expiresAt: number | null;
}

type ForeignFile =
  | { readonly kind: "ok"; readonly tasks: readonly (ForeignTask | { readonly fault: string })[] }
  | { readonly kind: "invalid"; readonly message: string };

const schemas = {
  claude: claudeTask.transform((task) => ({ ...task, expiresAt: null })),
  pi: piTask.transform(({ cronExpr, ...task }) => ({ ...task, cron: cronExpr })),
} as const;

export type ForeignTool = keyof typeof schemas;

export function parseForeignFile(tool: ForeignTool, content: unknown): ForeignFile {
  const list = Array.isArray(content) ? content : (content as { tasks?: unknown } | null)?.tasks;
  if (!Array.isArray(list)) return { kind: "invalid", message: "it has no list of tasks" };
  return { kind: "ok", tasks: list.map((item) => parseTask(tool, item)) };
}

function parseTask(tool: ForeignTool, item: unknown): ForeignTask | { fault: string } {
  const result = schemas[tool].safeParse(item);
  if (!result.success) {
    const issue = result.error.issues[0];
    const id = typeof item === "object" && item !== null && "id" in item ? String(item.id) : "without an id";
    return { fault: `task ${id}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}` };
  }
  const { id, cron, prompt, recurring, createdAt, expiresAt } = result.data;
  return { id, cron, prompt, recurring, createdAt: createdAt ?? null, expiresAt: expiresAt ?? null };
}
