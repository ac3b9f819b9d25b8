/** What went wrong with a request of pi's to its model, as our classes (B13). */
import { makeFailure } from "../../../agents/process/reasons.ts";
import { classOfHttpStatus } from "../../../agents/stream/stream-events.ts";
import type { Failure } from "../../../core/goal/goal.ts";
import { cleanLine } from "../../../core/text/clean.ts";

/**
 * pi has no field for the status. The libraries of the providers put it in front of what the provider said
 * (`429 {"error":…`, `429: …`, `OpenAI API error (429): …`); of the rest nothing is read.
 */
const STATUS = /^(?:[A-Za-z][\w .-]{0,40} ?\()?([45]\d\d)(?=[\s:)]|$)/;
const MOST_CHARACTERS = 200;

export function piFailureOf(error: string): Failure {
  const status = STATUS.exec(error)?.[1];
  const said = cleanLine(error).slice(0, MOST_CHARACTERS);
  // a connection that broke has no status
  return makeFailure(
    classOfHttpStatus(status === undefined ? null : Number(status)),
    `pi: ${said === "" ? "its request failed, and it does not say why" : said}`,
  );
}
