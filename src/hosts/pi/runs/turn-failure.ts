/** Maps a failed model request of pi to our failure classes (B13). */
import { makeFailure } from "../../../agents/process/reasons.ts";
import { classOfHttpStatus } from "../../../agents/stream/stream-events.ts";
import type { Failure } from "../../../core/goal/goal.ts";
import { cleanLine } from "../../../core/text/clean.ts";

/**
 * pi has no status field. The provider libraries put the status before the message (`429 {"error":…`, `429: …`,
 * `OpenAI API error (429): …`). The rest of the text is not read.
 */
const STATUS = /^(?:[A-Za-z][\w .-]{0,40} ?\()?([45]\d\d)(?=[\s:)]|$)/;
const MOST_CHARACTERS = 200;

export function piFailureOf(error: string): Failure {
  const status = STATUS.exec(error)?.[1];
  const said = cleanLine(error).slice(0, MOST_CHARACTERS);
  // a broken connection has no status
  return makeFailure(
    classOfHttpStatus(status === undefined ? null : Number(status)),
    `pi: ${said === "" ? "the request failed without a reason" : said}`,
  );
}
