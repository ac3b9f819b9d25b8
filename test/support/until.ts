/** Waits until the predicate holds (or returns something), looking every 10 ms; says what was missing otherwise. */
export async function until<T>(
  predicate: () => T | Promise<T>,
  what: string,
  withinMs = 30_000,
): Promise<Exclude<T, false | null | undefined>> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await predicate();
    if (value !== false && value !== null && value !== undefined) {
      return value as Exclude<T, false | null | undefined>;
    }
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
