/** A failure that a person can do something about. `usage` is wrong input (exit 64), the rest is surroundings (exit 1). */
export class LoopError extends Error {
  readonly code: "usage" | "surroundings";
  readonly hint: string | null;

  constructor(code: LoopError["code"], message: string, hint: string | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "LoopError";
    this.code = code;
    this.hint = hint;
  }
}

export function usageError(message: string, hint: string | null = null): LoopError {
  return new LoopError("usage", message, hint);
}

export function surroundingsError(message: string, hint: string | null = null): LoopError {
  return new LoopError("surroundings", message, hint);
}

/** What an error says, whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
