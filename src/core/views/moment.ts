/** Times in views are ISO 8601 texts, because other programs read them. */

export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** Also null for a time outside the calendar: an agent may name one. */
export function momentOf(at: number | null): string | null {
  return at === null || !(Math.abs(at) <= 8.64e15) ? null : iso(at);
}
