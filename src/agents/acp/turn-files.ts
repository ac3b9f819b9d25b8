/**
 * The files of a turn of a warm agent in its run folder (run-folder.ts), beside prompt.txt:
 *
 *   ticket.<token>   created once, before the prompt is sent, with the agent's process (ticket.ts)
 *   marks.<token>    identify all processes of that agent
 *   events.jsonl     the messages of the agent (event-log.ts)
 *   answer.txt  stderr.txt  end.<token>.json  exit.<token>    at the end, in this order
 *
 * Must not start or stop anything. Nothing here is synced to disk: after a power cut the intent decides.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { ProcessRef } from "../../core/loop.ts";
import type { TurnEnd } from "../../ports/agent.ts";
import { errorCode, readSmall, writeAtomic } from "../../system/files.ts";
import { bootId } from "../../system/process.ts";
import { readStat } from "../../system/process-table.ts";
import { currentMask } from "../../system/secrets.ts";
import { maskedEnd } from "../masked.ts";
import { describeRefusal } from "../process/ticket.ts";
import { parseJson, quietly } from "../quietly.ts";

/** null: this process owns the turn. Otherwise: why the turn must not start. Throws errors of the disk. */
export function takeTicket(folder: string, token: number, process: ProcessRef): string | null {
  const stat = readStat(process.pid)?.trim() ?? "";
  const text = `pid ${process.pid}\nboot ${bootId() ?? ""}\nstat ${stat}\nend\n`;
  try {
    writeFileSync(join(folder, `ticket.${token}`), text, { mode: 0o600, flag: "wx" });
    return null;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    return describeRefusal(folder, token, -1) ?? "the turn was already started with the same token";
  }
}

export function writeMarks(folder: string, token: number, marks: readonly string[]): void {
  writeFileSync(join(folder, `marks.${token}`), JSON.stringify(marks), { mode: 0o600, flag: "wx" });
}

export function readMarks(folder: string, token: number): readonly string[] {
  const text = readSmall(join(folder, `marks.${token}`)) ?? "";
  return z.array(z.string().min(1)).safeParse(parseJson(text)).data ?? [];
}

/** Never throws: this runner knows the end anyway. */
export function writeEnd(folder: string, token: number, end: TurnEnd, stderr: string): void {
  quietly(() => {
    const mask = currentMask();
    const masked = maskedEnd(mask, end);
    writeAtomic(join(folder, "answer.txt"), masked.kind === "cancelled" ? "" : masked.answer, false);
    const errors = join(folder, "stderr.txt");
    // the file of an earlier attempt must not stay
    if (stderr !== "" || existsSync(errors)) writeAtomic(errors, mask.text(stderr), false);
    writeAtomic(join(folder, `end.${token}.json`), JSON.stringify(masked), false);
    // for readers that only know the exit code
    writeAtomic(join(folder, `exit.${token}`), `${end.kind === "ok" ? 0 : 1}\n`, false);
  });
}

const Conversation = z.object({ id: z.string(), costUsd: z.number().nullable() });
const Result = {
  answer: z.string(),
  usage: z
    .looseObject({
      costUsd: z.number().nullable(),
      inputTokens: z.number().nullable(),
      outputTokens: z.number().nullable(),
    })
    .nullable(),
  conversation: Conversation.nullable(),
  activity: z
    .object({
      toolCalls: z.number(),
      edits: z.record(z.string(), z.number()),
      reads: z.array(z.string()).optional(),
      denials: z.array(z.string()),
      permanent: z.array(z.string()).optional(),
    })
    .nullable(),
};
const Failure = z.object({
  class: z.enum(["quota", "auth", "outage", "timeout", "denied", "overflow", "fault"]),
  reason: z.string(),
  resetsAt: z.number().nullable(),
});
const End = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ok"), ...Result }),
  z.object({ kind: z.literal("failed"), failure: Failure, ...Result }),
  z.object({ kind: z.literal("cancelled"), conversation: Conversation.optional() }),
]);

export function readEnd(folder: string, token: number): TurnEnd | null {
  const text = readSmall(join(folder, `end.${token}.json`)) ?? "";
  return (End.safeParse(parseJson(text)).data as TurnEnd | undefined) ?? null;
}
