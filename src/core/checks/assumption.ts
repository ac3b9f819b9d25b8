/** A criterion without a check: `quota=assume: …`. It blocks the end. */

import { textAfter } from "./asked.ts";
import type { CheckOf } from "./check.ts";
import type { KindOfCheck } from "./kind.ts";

export const ASSUMED: CheckOf<"assumption"> = { kind: "assumption" };

export const ASSUMPTION: KindOfCheck<CheckOf<"assumption">> = {
  verification: "assumption",
  isWeaker: false,
  atMost: "RESEARCH",
  blocks: "no check proves it; an assumption blocks the end",
  shape: { words: /^(?:assumption|assumed?)$/i, ofText: () => ASSUMED, mismatch: null },
  parse: (text) => (textAfter("assume", text) === null ? null : ASSUMED),
  run: () => ({ kind: "nothing" }),
  describe: () => "no check proves it (assumption); it blocks the end",
  demand: () => "no check proves it, so it blocks the end until a person adds a check",
  renderFinding: () => "assumed",
};
