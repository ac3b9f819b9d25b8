/** Answers an agent that asks for permission: by the rules, or by a person. */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import type { RequestPermissionOutcome } from "@agentclientprotocol/sdk";
import { type AskedPath, decidePermission, type PermissionRules } from "../../core/permissions.ts";
import type { PermissionRequest, Turn, TurnControl } from "../../ports/agent.ts";
import type { PermissionParams, ToolCall } from "./connection/messages.ts";
import type { AcpProfile } from "./profiles.ts";
import type { AcpTurnRecord } from "./record.ts";
import { commandOfCall, describeCall, isOwnTool, kindOfCall, namedPaths, nameOfCall } from "./tool-call.ts";

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

/** Must not reject. Allows a call once only: a permanent permission belongs into the person's own settings. */
export async function answerPermission(
  asking: Asking,
  { toolCall, options }: PermissionParams,
  signal: AbortSignal,
): Promise<RequestPermissionOutcome> {
  const call = asking.record.callWith(toolCall);
  const isAllowed = await isGranted(asking, call, signal);
  if (signal.aborted) return { outcome: "cancelled" };
  if (!isAllowed) {
    asking.record.deny(call);
    asking.control.onEvent?.({ type: "permission", tool: nameOfCall(call), answer: "denied" });
  }
  const kinds = isAllowed ? ["allow_once"] : ["reject_once", "reject_always"];
  const option = kinds.flatMap((kind) => options.find((each) => each.kind === kind) ?? [])[0];
  return option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option.optionId };
}

async function isGranted(asking: Asking, call: ToolCall, signal: AbortSignal): Promise<boolean> {
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
  control.onEvent?.({ type: "permission", tool: nameOfCall(call), answer: "asked" });
  const request: PermissionRequest = { tool, title, paths, command };
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
