/** Why a turn failed: a class (B13) that comes from codes only, and one short line for a person. */
import { constants } from "node:os";
import { stripVTControlCharacters } from "node:util";
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import type { TurnEnd } from "../../ports/agent.ts";

/** A turn whose process ended by itself. */
export interface Finished {
  /** 128 + n for signal n, as in shells. */
  readonly exitCode: number;
  readonly answer: string;
  readonly stderr: string;
}

/** Codes of sysexits.h that a wrapper can use: EX_TEMPFAIL, EX_NOPERM. */
const EXIT_CLASSES: ReadonlyMap<number, FailureClass> = new Map([
  [75, "outage"],
  [77, "auth"],
]);

/** System resources that are used up for now. */
const SHORTAGES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);

export function makeFailure(type: FailureClass, reason: string, resetsAt: number | null = null): Failure {
  return { class: type, reason, resetsAt };
}

export function failedEnd(type: FailureClass, reason: string): TurnEnd {
  const failure = makeFailure(type, reason);
  return { kind: "failed", failure, answer: "", usage: null, conversation: null, activity: null };
}

/** A turn that the system could not run. */
export function refusedEnd(what: string, error: unknown): TurnEnd {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
  return failedEnd(SHORTAGES.has(code) ? "outage" : "fault", `${what}: ${describeError(error)}`);
}

export function failureOfExit(finished: Finished): Failure {
  return makeFailure(EXIT_CLASSES.get(finished.exitCode) ?? "fault", describeExit(finished));
}

export function describeExit(finished: Finished): string {
  const code = finished.exitCode;
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  if (code > 128 && signal !== undefined) return `killed by ${signal}`;
  const known = { 126: "the command is not executable", 127: "the command was not found" }[code];
  const line = lastLine(finished.stderr) || lastLine(finished.answer);
  return [`exit ${code}`, known, line].filter((part) => part !== undefined && part !== "").join(": ");
}

export function describeError(error: unknown): string {
  const known: Record<string, string> = {
    ENOSPC: "the disk is full",
    EDQUOT: "the disk quota is used up",
    EROFS: "the file system is read-only",
    EACCES: "permission denied",
    EAGAIN: "the system cannot start another process",
    E2BIG: "the command or the environment is too long",
  };
  // a sentence of ours stands in the middle of another one here
  const text = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
  const word = known[(error as NodeJS.ErrnoException | undefined)?.code ?? ""];
  return lastLine(word === undefined ? text : `${word} (${text})`);
}

function lastLine(text: string): string {
  const lines = stripVTControlCharacters(text.slice(-16_384)).split(/[\r\n]+/);
  const clean = lines.map((line) => line.replace(/[\p{Cc}\p{Cf}]/gu, "").trim());
  return Array.from(clean.findLast((line) => line !== "") ?? "")
    .slice(0, 200)
    .join("");
}
