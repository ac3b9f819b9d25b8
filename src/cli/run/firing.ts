/** LOOP_DISABLE_SCHEDULER=1 turns loops off: nothing fires, and nothing is worked on. */
export function isFiring(env: NodeJS.ProcessEnv): boolean {
  return env.LOOP_DISABLE_SCHEDULER !== "1";
}
