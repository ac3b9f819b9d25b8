/** LOOP_DISABLE_SCHEDULER=1 turns all loops off. */
export function isFiring(env: NodeJS.ProcessEnv): boolean {
  return env.LOOP_DISABLE_SCHEDULER !== "1";
}
