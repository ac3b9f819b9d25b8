/** One thing that `loop doctor` looked at. */
export interface Finding {
  readonly check: string;
  /** note: it works, and a person should know. */
  readonly state: "ok" | "note" | "broken";
  readonly text: string;
  /** What to do about it; null: nothing. */
  readonly fix: string | null;
}

export function ok(check: string, text: string): Finding {
  return { check, state: "ok", text, fix: null };
}

export function note(check: string, text: string, fix: string | null): Finding {
  return { check, state: "note", text, fix };
}

export function broken(check: string, text: string, fix: string): Finding {
  return { check, state: "broken", text, fix };
}
