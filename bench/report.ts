/** One line per figure, and the exit code when a limit is broken. */

export interface Figure {
  readonly name: string;
  readonly figure: string;
  /** Against the peer, measured in the same run; null for a figure that is only printed. */
  readonly ratio: number | null;
  readonly peer: string;
  /** The ratio (or, with `value`, that value) must not be above it. */
  readonly limit?: number;
  readonly value?: number;
}

export const COLUMNS = [36, 42, 6, 46] as const;

export function report({ name, figure, ratio, peer, limit, value = ratio ?? 0 }: Figure): void {
  const passed = limit === undefined || value <= limit;
  if (!passed) process.exitCode = 1;
  const verdict = limit === undefined ? "-" : passed ? "pass" : "FAIL";
  const cells = [name, figure, ratio === null ? "-" : ratio.toFixed(2), peer];
  console.log(`${cells.map((cell, at) => cell.padEnd(COLUMNS[at] ?? 0)).join(" ")} ${verdict}`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [a = 0, b = 0] = [sorted[middle], sorted[middle - 1]];
  return sorted.length % 2 === 1 ? a : (a + b) / 2;
}

export const isQuick = process.env.BENCH_QUICK === "1";
