/** Which versions of the client the plugin can work with. */

/** A stop hook's context makes the conversation go on, and hooks may call tools. */
const OLDEST = "2.1.163";
/** What the tests run against. */
const TESTED = "2.1.325";

export interface VersionWord {
  readonly state: "ok" | "note" | "broken";
  readonly text: string;
}

export function judgeVersion(version: string | null): VersionWord {
  if (version === null) return { state: "note", text: `did not tell its version; ${TESTED} was tested` };
  if (isOlder(version, OLDEST))
    return {
      state: "broken",
      text: `${version} is too old: before ${OLDEST} a conversation does not go on with what a stop hook adds`,
    };
  if (isOlder(version, TESTED))
    return { state: "note", text: `${version} is older than ${TESTED}, which was tested` };
  return { state: "ok", text: version };
}

/** By their numbers; what follows a dash does not count. */
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
