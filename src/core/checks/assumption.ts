/** Something that nothing finds out: `quota=assume: …`. It is said, and it blocks the end. */
import type { CheckOf } from "./check.ts";
import type { KindOfCheck } from "./kind.ts";
import { textAfter } from "./written.ts";

export const ASSUMED: CheckOf<"assumption"> = { kind: "assumption" };

export const ASSUMPTION: KindOfCheck<CheckOf<"assumption">> = {
  verification: "assumption",
  isWeaker: false,
  atMost: "RESEARCH",
  blocks: "nothing checks it; an assumption blocks the end",
  shape: { words: /^(?:assumption|assumed?)$/i, ofText: () => ASSUMED, mismatch: null },
  parse: (text) => (textAfter("assume", text) === null ? null : ASSUMED),
  run: () => ({ kind: "nothing" }),
  describe: () => "nothing finds out (assumption); it blocks the end",
  demand: () => "nothing checks it, so it blocks the end until a person names a check",
  renderFinding: () => "assumed",
};
