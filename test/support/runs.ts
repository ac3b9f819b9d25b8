/**
 * How often a property is tried. `npm test` tries a quarter of the full number; `npm run test:properties` tries all
 * of it (`LOOP_TEST_RUNS=full`), and CI does both. `LOOP_TEST_LONG=1` tries the long number.
 */
const QUICK_SHARE = 4;

export function runs(full: number, long = full): number {
  if (process.env.LOOP_TEST_LONG) return long;
  return process.env.LOOP_TEST_RUNS === "full" ? full : Math.ceil(full / QUICK_SHARE);
}
