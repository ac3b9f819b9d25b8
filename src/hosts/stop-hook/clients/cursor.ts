/** Cursor: hooks in `.cursor/hooks.json`. A stop hook can send the next message; a prompt hook can only allow or block. */
import type { ConversationAnswer } from "../../conversation/answer.ts";
import { type Fields, textOf } from "../../conversation/fields.ts";
import { type ClientEvent, readNamed, type StopClient, type Told } from "./client.ts";

export const cursor: StopClient = {
  name: "cursor",
  title: "Cursor",
  commandName: "/loopwright",
  // the installed hooks set `loop_limit: null`
  cap: 0,
  givesContext: false,
  steers: false,
  read,
  render,
  readTurn: null,
};

const ENDS: ReadonlyMap<string, Told["end"]> = new Map([
  ["aborted", "interrupted"],
  ["error", "failed"],
]);

function read(input: Fields): Told {
  const { workspace_roots: roots } = input;
  const [root] = Array.isArray(roots) ? (roots as unknown[]) : [];
  const told = readNamed(input, { session: "conversation_id" });
  return {
    ...told,
    cwd: typeof root === "string" ? root : told.cwd,
    answer: textOf(input, "text") || null,
    end: ENDS.get(textOf(input, "status")) ?? "ok",
  };
}

function render(event: ClientEvent, answer: ConversationAnswer): string {
  if (event === "stop" && answer.kind === "context") return JSON.stringify({ followup_message: answer.text });
  if (event !== "prompt") return "";
  return JSON.stringify(
    answer.kind === "local" ? { continue: false, user_message: answer.text } : { continue: true },
  );
}
