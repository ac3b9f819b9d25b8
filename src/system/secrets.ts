/** The mask for everything that this process stores, shows or sends (J7). It follows the environment of the process. */
import { createMask, type Mask, NO_MASK } from "../core/secrets/mask.ts";
import { secretsIn } from "../core/secrets/secret-env.ts";

let known: { readonly env: string; readonly mask: Mask } | null = null;
/** The environment was compared in this run of synchronous code: an agent may print thousands of lines at once. */
let isCompared = false;

/** Masks nothing with `LOOP_NO_MASK=1`. */
export function currentMask(): Mask {
  if (/^(?:1|true|yes)$/i.test(process.env.LOOP_NO_MASK ?? "")) return NO_MASK;
  if (known !== null && isCompared) return known.mask;
  const env = JSON.stringify(process.env);
  if (known?.env !== env) known = { env, mask: createMask(secretsIn(process.env)) };
  isCompared = true;
  queueMicrotask(() => {
    isCompared = false;
  });
  return known.mask;
}

/** For `--no-mask` and for the settings of a project. Processes that this process starts follow it. */
export function stopMasking(): void {
  process.env.LOOP_NO_MASK = "1";
}
