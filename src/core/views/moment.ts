/** Moments as text. Views have no numbers for times: other programs read ISO 8601. */

export function iso(at: number): string {
  return new Date(at).toISOString();
}

export function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}

/** null too for a moment that no calendar has: an agent may name one. */
export function momentOf(at: number | null): string | null {
  return at === null || !(Math.abs(at) <= 8.64e15) ? null : new Date(at).toISOString();
}
