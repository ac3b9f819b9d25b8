/** The answer of every tool: a value, or an error sentence that an agent can act on. */
import type { z } from "zod";
import { maskAll } from "../core/secrets/mask.ts";
import { LoopError } from "../errors.ts";
import { currentMask } from "../system/secrets.ts";

export type ToolResult<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly error: string };

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
