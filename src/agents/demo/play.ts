/** Plays one scene of the demo with real edits. Asks for permission before each edit. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { PermissionOption, SessionUpdate, ToolCallUpdate } from "@agentclientprotocol/sdk";
import * as z from "zod";
import { END, START } from "../../core/claims/status-block.ts";
import type { Wire } from "../acp/connection/wire.ts";
import { quietly } from "../quietly.ts";
import { CRITERION, type Scene, type SceneEdit } from "./scenes.ts";

export interface DemoStage {
  readonly wire: Wire;
  readonly sessionId: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Counts the tool calls of the session, for their ids. */
  readonly nextCall: () => number;
}

/** The client cancelled its answer, so the turn is over. */
export class TakenBack extends Error {}

const CHUNK = /[\s\S]{1,40}/gu;
const OPTIONS: readonly PermissionOption[] = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];
const Permission = z.object({
  outcome: z.object({ outcome: z.enum(["selected", "cancelled"]), optionId: z.string().optional() }),
});

/** Resolves with the whole message. Rejects when aborted, or with `TakenBack`. */
export async function playScene(stage: DemoStage, scene: Scene, prompt: string): Promise<string> {
  const { signal } = stage;
  const pauseMs = scene.takesMs / (scene.edits.length + 2);
  for (const edit of scene.edits) {
    await pause(pauseMs, undefined, { signal });
    await playEdit(stage, edit);
  }
  await pause(pauseMs, undefined, { signal });
  const message = renderMessage(scene, prompt);
  for (const text of message.match(CHUNK) ?? [])
    sendUpdate(stage, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  await pause(pauseMs, undefined, { signal });
  return message;
}

/** Without permission, or when the file has another content, nothing is written and the scene continues. */
async function playEdit(stage: DemoStage, edit: SceneEdit): Promise<void> {
  const path = join(stage.cwd, edit.path);
  const toolCallId = `edit-${stage.nextCall()}`;
  const title = `Edit ${edit.path}`;
  const call = { toolCallId, title, name: "Edit", kind: "edit" as const, locations: [{ path }] };
  const end = (status: "completed" | "failed") =>
    sendUpdate(stage, { sessionUpdate: "tool_call_update", toolCallId, status });
  const oldText = quietly(() => readFileSync(path, "utf8"));
  const newText = oldText?.replace(edit.oldText, edit.newText);
  if (oldText == null || newText === undefined || newText === oldText) {
    sendUpdate(stage, { sessionUpdate: "tool_call", ...call, status: "failed" });
    return;
  }
  const content = [{ type: "diff" as const, path, oldText, newText }];
  sendUpdate(stage, { sessionUpdate: "tool_call", ...call, content, status: "pending" });
  if (!(await askPermission(stage, { ...call, content }))) return end("failed");
  try {
    writeFileSync(path, newText);
    end("completed");
  } catch {
    end("failed");
  }
}

async function askPermission(
  { wire, sessionId, signal }: DemoStage,
  toolCall: ToolCallUpdate,
): Promise<boolean> {
  const params = { sessionId, toolCall, options: OPTIONS };
  const answer = await unlessAborted(wire.request("session/request_permission", params), signal);
  // no answer is not a permission
  const { data } = Permission.safeParse(answer);
  if (data?.outcome.outcome === "cancelled") throw new TakenBack();
  return data?.outcome.optionId === "allow";
}

/** null: refused, or not asked. */
function unlessAborted(answer: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const aborted = new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return Promise.race([answer.catch(() => null), aborted]);
}

/** Adds the status report if the prompt asks for one. */
function renderMessage({ says, claimsDone }: Scene, prompt: string): string {
  const nonce = [...prompt.matchAll(/^Nonce of this turn: (\w+)$/gm)].at(-1)?.[1];
  if (nonce === undefined) return says;
  return [
    says,
    "",
    START,
    `NONCE: ${nonce}`,
    `EXIT_SIGNAL: ${claimsDone}`,
    `CRITERIA: {"${CRITERION}": ${claimsDone}}`,
    `STEP: ${claimsDone ? "done" : "open"}`,
    `NEXT: ${claimsDone ? "none" : "the discount"}`,
    END,
  ].join("\n");
}

export function sendUpdate(
  { wire, sessionId }: Pick<DemoStage, "wire" | "sessionId">,
  body: SessionUpdate,
): void {
  wire.notify("session/update", { sessionId, update: body });
}
