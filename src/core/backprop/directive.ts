/**
 * The start of the next prompt after a test command failed (D10), and the entry of the log. Both quote the output of a
 * command, with the marks of claims broken, because later turns read the log, too.
 */
import { cleanLine } from "../text/clean.ts";
import { codeSpan, quote } from "../text/quote.ts";
import type { TestRun } from "./test-run.ts";

export interface Backprop {
  readonly run: TestRun;
  readonly command: string;
  readonly category: string;
  /** How often this category was seen, this time included. */
  readonly times: number;
  readonly systemic: boolean;
}

export const BACKPROP_LOG = ".loop/history/backprop-log.md";

const MAX_SHOWN = 5;
const MAX_COMMAND = 200;

export function renderBackpropDirective(backprop: Backprop): string {
  const { run, category, times, systemic } = backprop;
  return [
    `[LOOP BACKPROP] ${shownCommand(backprop)} ${resultOf(run)}. Category: ${shown(category)}.`,
    ...quotedFailures(run),
    ...(systemic
      ? [
          `Systemic: ${times} failures of this category. Do not fix only this one: find the cause of all of them, and cover them with one criterion.`,
        ]
      : []),
    [
      "Before the next step:",
      "1. Trace it to the spec: which criterion should have caught this? Maybe none.",
      "2. Propose the missing criterion in one sentence that a command can check.",
      "3. Write a test that fails because of this cause, and see it fail. If you have one, go on.",
      "4. Fix the cause. Weaken no test.",
      "5. Verify: the new test, then the whole command.",
      `6. Log cause, criterion, test and fix to \`${BACKPROP_LOG}\`.`,
    ].join("\n"),
  ].join("\n\n");
}

/** The agent fills in the fields at the end. */
export function renderBackpropEntry(backprop: Backprop & { readonly date: string }): string {
  const { run, category, times, systemic, date } = backprop;
  const often = times === 1 ? "once" : `${times} times`;
  return [
    `## ${shown(date)} ${shown(category)}`,
    `- Command: ${shownCommand(backprop)} ${resultOf(run)}\n- Category: ${shown(category)} (seen ${often}${systemic ? ", systemic" : ""})`,
    ...quotedFailures(run),
    "- Cause:\n- Criterion:\n- Test:\n- Fix:",
    "",
  ].join("\n\n");
}

function resultOf({ runner, outcome, passed, failed }: TestRun): string {
  if (outcome === "passed") return `passed (${runner})`;
  if (outcome === "broken") return `could not run its tests (${runner})`;
  if (failed === undefined || failed === 0) return `failed (${runner})`;
  return `failed (${runner}: ${failed} failed${passed === undefined ? "" : `, ${passed} passed`})`;
}

function quotedFailures({ failures }: TestRun): readonly string[] {
  if (failures.length === 0) return [];
  const lines = failures.slice(0, MAX_SHOWN).map(({ name, message }) => {
    const said = shown(message);
    return said === "" ? shown(name) : `${shown(name)}: ${said}`;
  });
  const left = failures.length - lines.length;
  return [quote([...lines, ...(left > 0 ? [`and ${left} more`] : [])].join("\n"), null)];
}

function shownCommand({ command }: Backprop): string {
  const line = shown(command);
  const isLong = line.length > MAX_COMMAND;
  return codeSpan(isLong ? `${line.slice(0, MAX_COMMAND).replace(/[\ud800-\udbff]$/, "")}…` : line);
}

/** One line that contains no claim, even without the quotation around it. */
function shown(text: string): string {
  return cleanLine(text)
    .replaceAll(/<(?=\s*\/?\s*(?:promise|verdict|rejection_reason|loop-complete)\b)/gi, "‹")
    .replaceAll(/-{3,}(?=\s*(?:LOOP_STATUS|END_STATUS))/g, "--");
}
