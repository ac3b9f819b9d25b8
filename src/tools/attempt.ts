/** The answer of every tool: a value, or an error sentence that an agent can act on. */
import type { z } from "zod";
import { maskAll } from "../core/secrets/mask.ts";
import { LoopError, usageError } from "../errors.ts";
import type { Store } from "../ports/store.ts";
import { currentMask } from "../system/secrets.ts";

export type ToolResult<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly error: string };

/** After this time a waiting client is told why it waits. */
const SLOW_MS = 1_000;

/** Reads what other processes wrote. Throws if the call was cancelled meanwhile: then nothing must change. */
export async function catchUp(
  store: Pick<Store, "catchUp">,
  { signal, onProgress }: ToolCall,
): Promise<void> {
  const step = { progress: 1, message: "reading the journal" };
  const slow = setTimeout(() => onProgress?.(step), SLOW_MS).unref();
  try {
    await store.catchUp();
  } finally {
    clearTimeout(slow);
  }
  if (signal?.aborted) throw usageError("The call was cancelled: nothing was changed.");
}

/** Left out by callers that never cancel. */
export interface ToolCall {
  readonly signal?: AbortSignal;
  readonly onProgress?: (step: { readonly progress: number; readonly message?: string }) => void;
}

export async function attempt<S extends z.ZodType, T>(
  schema: S,
  input: unknown,
  act: (input: z.output<S>) => Promise<T>,
): Promise<ToolResult<T>> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { ok: false, error: `${issue?.path.join(".") || "input"}: ${issue?.message ?? "not valid"}` };
  }
  try {
    return { ok: true, ...(await act(maskAll(currentMask(), parsed.data))) };
  } catch (error) {
    if (error instanceof LoopError)
      return { ok: false, error: [error.message, error.hint].filter(Boolean).join(" ") };
    throw error;
  }
}
