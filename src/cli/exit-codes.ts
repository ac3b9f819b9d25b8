/** What the shell is told. Codes 2 to 6 mean something else in loops that people script; wrong use is 64. */
export const EXIT = { ok: 0, failure: 1, usage: 64, interrupted: 130 } as const;
