/** One result of `loop doctor`. */
export interface Finding {
  readonly check: string;
  /** note: everything works, but the person should read it. */
  readonly state: "ok" | "note" | "broken";
  readonly text: string;
  /** How to repair it; null: nothing to do. */
  readonly fix: string | null;
}

export const TWO_STOP_HOOKS =
  "If both hooks block a stop, two texts go into one turn. Keep only one of the hooks.";

export function ok(check: string, text: string): Finding {
  return { check, state: "ok", text, fix: null };
}

export function note(check: string, text: string, fix: string | null): Finding {
  return { check, state: "note", text, fix };
}

export function broken(check: string, text: string, fix: string): Finding {
  return { check, state: "broken", text, fix };
}
