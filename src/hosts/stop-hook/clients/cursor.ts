/** Cursor: hooks in `.cursor/hooks.json`. A stop can bring the next message; a prompt can only be let through or not. */
import type { HookAnswer } from "../../claude-code/hooks/hook-answer.ts";
import { type ClientEvent, type Fields, type StopClient, type Told, textOf, UNTOLD } from "./client.ts";

export const cursor: StopClient = {
  name: "cursor",
  title: "Cursor",
  word: "/loopwright",
  // `loop_limit: null` in what is installed
  cap: 0,
  givesContext: false,
  steers: false,
  read,
  render,
  readTurn: null,
};

const ENDS: Readonly<Record<string, Told["end"]>> = { aborted: "interrupted", error: "failed" };

function read(input: Fields): Told {
  const { workspace_roots: roots } = input;
  const [root] = Array.isArray(roots) ? (roots as unknown[]) : [];
  return {
    ...UNTOLD,
    session: textOf(input, "conversation_id"),
    cwd: typeof root === "string" ? root : textOf(input, "cwd"),
    prompt: textOf(input, "prompt"),
    answer: textOf(input, "text") || null,
    end: ENDS[textOf(input, "status")] ?? "ok",
    model: textOf(input, "model"),
  };
}

function render(event: ClientEvent, answer: HookAnswer): string {
  if (event === "stop" && answer.kind === "context") return JSON.stringify({ followup_message: answer.text });
  if (event !== "prompt") return "";
  return JSON.stringify(
    answer.kind === "local" ? { continue: false, user_message: answer.text } : { continue: true },
  );
}
