/**
 * What a call of a tool leaves behind: an entry in the ledger (D7), and, where it was a test run that failed, the
 * directive with which the next turn of a goal begins (D10).
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { failureCategory, isSystemic } from "../../core/backprop/category.ts";
import { BACKPROP_LOG, renderBackpropDirective, renderBackpropEntry } from "../../core/backprop/directive.ts";
import { callsForBackprop, recogniseTestRun } from "../../core/backprop/test-run.ts";
import { appendLedger } from "../../store/ledger/ledger.ts";
import { readSmall } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import type { HookPayload } from "../claude-code/hooks/payload.ts";

export function recordTool(dir: string, payload: HookPayload, loop: string | null, now: number): void {
  const { tool, toolUseId, event, durationMs, session } = payload;
  if (tool === "" || toolUseId === "") return;
  appendLedger(dir, [
    {
      ...{ kind: "tool", id: toolUseId, at: now, session, tool, ok: event === "PostToolUse" },
      ...(loop === null ? {} : { loop }),
      ...(durationMs === null ? {} : { ms: durationMs }),
    },
  ]);
}

/** The directive for the next turn; null: the tests are green again; `as before`: this was no run of tests. */
export function backpropOf(dir: string, payload: HookPayload, now: number): string | null | "as before" {
  return backpropFor(dir, commandOf(payload), now);
}

/** The same for a command that any client ran. */
export function backpropFor(
  dir: string,
  { command, exitCode, output }: RanCommand,
  now: number,
): string | null | "as before" {
  if (command === "") return "as before";
  const run = recogniseTestRun({ command, exitCode, output });
  if (run?.outcome === "passed") return null;
  if (!callsForBackprop(run)) return "as before";
  const category = failureCategory(run);
  const earlier = categoriesSoFar(dir);
  const seen = [...earlier, category];
  const backprop = {
    ...{ run, command, category },
    times: seen.filter((each) => each === category).length,
    systemic: isSystemic(seen, category),
  };
  log(dir, renderBackpropEntry({ ...backprop, date: new Date(now).toISOString() }), category);
  return renderBackpropDirective(backprop);
}

export interface RanCommand {
  readonly command: string;
  /** null: nobody tells. */
  readonly exitCode: number | null;
  readonly output: string;
}

/** The client gives no exit code for a command that went well, and puts it first where it did not. */
function commandOf({ event, tool, toolInput, toolResponse, error }: HookPayload): RanCommand {
  const command = tool === "Bash" ? textOf(toolInput, "command") : "";
  if (event === "PostToolUse") return { command, exitCode: 0, output: textOf(toolResponse, "stdout") };
  const [, code] = /^Exit code (\d+)(?:\n|$)/.exec(error) ?? [];
  return { command, exitCode: code === undefined ? null : Number(code), output: error };
}

function textOf(value: unknown, key: string): string {
  const found = (value as Record<string, unknown> | null | undefined)?.[key];
  return typeof found === "string" ? found : "";
}

const MARK = /^<!-- category: (.*) -->$/gm;

function categoriesSoFar(dir: string): readonly string[] {
  const text = readSmall(logPath(dir)) ?? "";
  return [...text.matchAll(MARK)].map(([, category = ""]) => category);
}

function log(dir: string, entry: string, category: string): void {
  const path = logPath(dir);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!isInside(dirname(dir), dirname(path))) return;
  const mark = `<!-- category: ${category.replaceAll(/[\r\n]|--/g, " ")} -->`;
  appendFileSync(path, `${entry.trimEnd()}\n${mark}\n\n`, { mode: 0o600 });
}

function logPath(dir: string): string {
  return join(dirname(dir), BACKPROP_LOG);
}
