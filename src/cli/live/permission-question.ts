/** Asks the person for the permissions that agents request: one question at a time, and never again after "always". */
import { cleanLine } from "../../core/text/clean.ts";
import type { PermissionRequest, TurnControl } from "../../ports/agent.ts";
import { createLine } from "./hold.ts";

export type PermissionReply = "once" | "always" | "no";

/** `ask` returns null when nobody answers. */
export function createPermissionDesk(
  ask: (question: string, signal: AbortSignal) => Promise<PermissionReply | null>,
): NonNullable<TurnControl["askPerson"]> {
  const granted = new Set<string>();
  const inLine = createLine();
  return (request, signal) => {
    const answered = inLine(() => decide(request, signal)).catch(() => "deny" as const);
    // a request in the queue ends with its own turn
    return unlessStopped(answered, signal);
  };

  async function decide(request: PermissionRequest, signal: AbortSignal): Promise<"allow" | "deny"> {
    const key = JSON.stringify([request.tool, request.paths, request.command]);
    if (signal.aborted) return "deny";
    if (granted.has(key)) return "allow";
    const said = await ask(renderQuestion(request), signal);
    if (said === "always") granted.add(key);
    return said === null || said === "no" ? "deny" : "allow";
  }
}

function unlessStopped(answered: Promise<"allow" | "deny">, signal: AbortSignal): Promise<"allow" | "deny"> {
  return new Promise((resolve) => {
    const stop = () => resolve("deny");
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    void answered.then((answer) => {
      signal.removeEventListener("abort", stop);
      resolve(answer);
    });
  });
}

function renderQuestion({ tool, title, paths, command }: PermissionRequest): string {
  const what = command ?? (paths.length > 0 ? paths.join(", ") : title);
  return `The agent wants to ${VERBS[tool] ?? "use a tool"}: ${cleanLine(what)}. Allow it?`;
}

const VERBS: Partial<Record<PermissionRequest["tool"], string>> = {
  read: "read",
  edit: "change",
  delete: "delete",
  execute: "run",
  fetch: "fetch",
};
