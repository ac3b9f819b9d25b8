/** Reads codex's own record of a thread: the model and the kind of a failure, which codex does not print. */
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { readEndOf } from "../../system/files.ts";
import { quietly } from "../quietly.ts";
import { Count, lenient, parseEvents, Text } from "../stream/stream-events.ts";
import { CodexTokens } from "./events.ts";

export interface Rollout {
  readonly model: string | null;
  /** The failure of the last turn: its kind and HTTP status. */
  readonly error: { readonly kind: string; readonly status: number | null } | null;
  readonly tokens: CodexTokens | null;
  /** When a used-up limit resets. */
  readonly resetsAt: number | null;
}

const Kind = lenient(z.union([z.string(), z.record(z.string(), z.unknown())]));
const Window = lenient(z.object({ used_percent: Count, resets_at: Count }));

const RolloutLine = z.object({
  type: z.string(),
  payload: z.object({
    type: Text,
    /** turn_context */
    model: Text,
    /** task_complete */
    error: lenient(z.object({ codex_error_info: Kind })),
    /** token_count */
    info: lenient(z.object({ total_token_usage: lenient(CodexTokens) })),
    rate_limits: lenient(z.object({ primary: Window, secondary: Window })),
  }),
});

/** The number of day folders to search for a thread. */
const DAYS = 400;
const CAP_BYTES = 32 * 1024 * 1024;

/** null: missing or unreadable. Never throws. */
export function readRollout(threadId: string, env: NodeJS.ProcessEnv): Rollout | null {
  return quietly(() => {
    const home = env.CODEX_HOME || join(env.HOME || homedir(), ".codex");
    const path = findRollout(join(home, "sessions"), threadId);
    return path === null ? null : summarize(readEndOf(path, CAP_BYTES));
  });
}

/** `sessions/2026/11/15/rollout-<when>-<thread>.jsonl`, newest first. */
function findRollout(sessions: string, threadId: string): string | null {
  let left = DAYS;
  const newest = (dir: string) => readdirSync(dir).sort().reverse();
  for (const year of newest(sessions))
    for (const month of newest(join(sessions, year)))
      for (const day of newest(join(sessions, year, month))) {
        const folder = join(sessions, year, month, day);
        const name = readdirSync(folder).find((file) => file.endsWith(`-${threadId}.jsonl`));
        if (name !== undefined) return join(folder, name);
        if (--left === 0) return null;
      }
  return null;
}

function summarize(text: string): Rollout {
  // lines of other kinds can be megabytes
  const lines = text.split("\n").filter((line) => /"(?:turn_context|task_complete|token_count)"/.test(line));
  const events = parseEvents(RolloutLine, lines.join("\n"));
  const payloads = events.map(({ type, payload }) => ({ of: type, ...payload }));
  const counts = payloads.filter(({ type }) => type === "token_count");
  const limits = counts.findLast((count) => count.rate_limits != null)?.rate_limits;
  const full = [limits?.primary, limits?.secondary].filter((window) => (window?.used_percent ?? 0) >= 100);
  const resets = full.flatMap((window) => window?.resets_at ?? []);
  return {
    model: payloads.findLast(({ of, model }) => of === "turn_context" && model)?.model ?? null,
    error: errorOf(payloads.findLast(({ type }) => type === "task_complete")?.error?.codex_error_info),
    tokens: counts.findLast((count) => count.info?.total_token_usage)?.info?.total_token_usage ?? null,
    resetsAt: resets.length === 0 ? null : Math.max(...resets) * 1000,
  };
}

/** `"usage_limit_exceeded"` or `{"http_connection_failed":{"http_status_code":401}}`. */
function errorOf(info: string | Readonly<Record<string, unknown>> | null | undefined): Rollout["error"] {
  if (info == null) return null;
  if (typeof info === "string") return { kind: info, status: null };
  const [kind, detail] = Object.entries(info)[0] ?? ["other", null];
  const status = (detail as { http_status_code?: unknown } | null)?.http_status_code;
  return { kind, status: typeof status === "number" ? status : null };
}
