/** Answers an agent that asks for permission: by the rules, or by a person. */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import type { RequestPermissionOutcome } from "@agentclientprotocol/sdk";
import { type AskedPath, decidePermission, type PermissionRules } from "../../core/permissions.ts";
import type { AgentEvent, PermissionRequest, Turn, TurnControl } from "../../ports/agent.ts";
import type { PermissionParams, ToolCall } from "./connection/messages.ts";
import type { AcpProfile } from "./profiles.ts";
import type { AcpTurnRecord } from "./record.ts";
import { commandOfCall, describeCall, isOwnTool, kindOfCall, namedPaths, nameOfCall } from "./tool-call.ts";

type PermissionEvent = Extract<AgentEvent, { type: "permission" }>;

export interface Asking {
  readonly profile: AcpProfile;
  readonly projectDir: string;
  readonly rules: PermissionRules;
  readonly turn: Turn;
  readonly control: TurnControl;
  readonly record: AcpTurnRecord;
  /** Does this session have the engine's own tools? They need no permission. */
  readonly hasTools: boolean;
}

/** Must not reject. Allows a call once, unless the agent offers only a permanent permission: that goes on record. */
export async function answerPermission(
  asking: Asking,
  { toolCall, options }: PermissionParams,
  signal: AbortSignal,
): Promise<RequestPermissionOutcome> {
  const call = asking.record.callWith(toolCall);
  const find = (...kinds: readonly string[]) =>
    kinds.flatMap((kind) => options.find((each) => each.kind === kind) ?? [])[0];
  const yes = find("allow_once", "allow_always");
  const isForever = yes?.kind === "allow_always";
  const isAllowed = await isGranted(asking, call, isForever, signal);
  if (signal.aborted) return { outcome: "cancelled" };
  if (!isAllowed) asking.record.deny(call);
  else if (isForever) asking.record.allowForever(call);
  if (!isAllowed || isForever)
    tell(asking, call, isAllowed ? "allowed for the whole conversation" : "denied");
  const option = isAllowed ? yes : find("reject_once", "reject_always");
  return option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option.optionId };
}

function tell({ control }: Asking, call: ToolCall, answer: PermissionEvent["answer"]): void {
  control.onEvent?.({ type: "permission", tool: nameOfCall(call), answer });
}

async function isGranted(
  asking: Asking,
  call: ToolCall,
  isForever: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { profile, projectDir, rules, turn, control } = asking;
  const command = commandOfCall(call, profile);
  const tool = kindOfCall(call, command);
  const paths = namedPaths(call, projectDir);
  const isOwn = asking.hasTools && isOwnTool(call, asking.record.titlesOf(call.toolCallId));
  if (command === null && paths.length === 0 && isOwn) return true;
  const title = describeCall(call, projectDir) || nameOfCall(call);
  const answer = decidePermission(rules, {
    tool,
    title,
    paths: paths.map((path) => realPlaceOf(path, projectDir)),
    command,
    role: turn.env.LOOP_ROLE ?? null,
    commands: turn.commands ?? [],
  });
  if (answer !== "ask" || control.askPerson === undefined) return answer === "allow";
  tell(asking, call, "asked");
  const asked = isForever ? `${title} (for the whole conversation: the agent offers nothing less)` : title;
  const request: PermissionRequest = { tool, title: asked, paths, command };
  return (await control.askPerson(request, signal)) === "allow";
}

/**
 * Where an absolute path leads to (H4). Follows links, also in the folders above a file that does not exist yet. A
 * broken link is outside the project.
 */
export function realPlaceOf(path: string, projectDir: string): AskedPath {
  const real = realOf(path);
  if (real === null) return { absolute: slashed(path), inProject: null };
  const way = relative(realOf(projectDir) ?? projectDir, real);
  const isOutside = way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
  return { absolute: slashed(real), inProject: isOutside ? null : slashed(way) };
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    // a write would follow a broken link
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return null;
    const above = dirname(path);
    const real = above === path ? null : realOf(above);
    return real === null ? null : join(real, basename(path));
  }
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}
