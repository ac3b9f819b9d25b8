/** The client versions that the plugin supports. */
import type { Finding } from "../../conversation/finding.ts";

/** The first version where a stop hook can continue the conversation and hooks can call tools. */
const OLDEST = "2.1.163";
const TESTED = "2.1.325";

export function judgeVersion(version: string | null): Pick<Finding, "state" | "text"> {
  if (version === null) return { state: "note", text: `did not report its version; tested with ${TESTED}` };
  if (isOlder(version, OLDEST))
    return {
      state: "broken",
      text: `${version} is too old: before ${OLDEST} a stop hook cannot continue a conversation`,
    };
  if (isOlder(version, TESTED))
    return { state: "note", text: `${version} is older than the tested version ${TESTED}` };
  return { state: "ok", text: version };
}

/** Compares the numbers; ignores a suffix after a dash. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(than)];
  for (let n = 0; n < Math.max(left.length, right.length); n++) {
    const difference = (left[n] ?? 0) - (right[n] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function numbersOf(version: string): readonly number[] {
  const [numbers = ""] = version.split(/[-+]/);
  return numbers.split(".").map((part) => Number.parseInt(part, 10) || 0);
}
