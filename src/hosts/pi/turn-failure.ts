/** What went wrong with a request of pi's to its model, as our classes (B13). */
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import { cleanLine } from "../../core/text/clean.ts";

/**
 * pi has no field for the status. The libraries of the providers put it in front of what the provider said
 * (`429 {"error":…`, `429: …`, `OpenAI API error (429): …`); of the rest nothing is read.
 */
const STATUS = /^(?:[A-Za-z][\w .-]{0,40} ?\()?([45]\d\d)(?=[\s:)]|$)/;

const CLASSES: Readonly<Record<number, FailureClass>> = {
  400: "fault",
  401: "auth",
  402: "auth",
  403: "auth",
  404: "auth",
  413: "overflow",
  422: "fault",
  429: "quota",
};

export function failureOf(error: string): Failure {
  const status = Number(STATUS.exec(error)?.[1] ?? Number.NaN);
  const said = cleanLine(error).slice(0, 200);
  return {
    // a connection that broke has no status
    class: CLASSES[status] ?? "outage",
    reason: `pi's request failed: ${said === "" ? "it does not say why" : said}`,
    resetsAt: null,
  };
}
