/**
 * Clients other than Claude Code that have stop hooks. Each client is data and three mappings: its input, its answers,
 * and its transcript of the last turn.
 */
import type { Usage } from "../../../core/base.ts";
import type { ConversationAnswer } from "../../conversation/answer.ts";
import { type Fields, textOf } from "../../conversation/fields.ts";

export const CLIENT_NAMES = ["codex", "gemini", "cursor", "opencode", "copilot"] as const;

export type ClientName = (typeof CLIENT_NAMES)[number];

/** `said`: a message of the agent, for clients whose stop hook does not include it. */
export const CLIENT_EVENTS = ["stop", "prompt", "start", "end", "interrupt", "said"] as const;

export type ClientEvent = (typeof CLIENT_EVENTS)[number];

/** A client's hook input in one form. The input is untrusted; an empty text means missing. */
export interface Told {
  /** Validate it before using it as a file name. */
  readonly session: string;
  readonly cwd: string;
  /** null: the client has no prompt ids. */
  readonly promptId: string | null;
  readonly prompt: string;
  /** The agent's last message; null: not in this input. */
  readonly answer: string | null;
  /** Facts about the turn that just ended; null: not in this input. */
  readonly facts: TurnFacts | null;
  readonly end: "ok" | "interrupted" | "failed";
  /** Why the conversation started. */
  readonly source: string;
  readonly model: string;
  readonly transcript: string | null;
}

/** Facts from the client's transcript about the turn that just ended. */
export interface TurnFacts {
  /** null: no final message. */
  readonly answer: string | null;
  readonly toolCalls: number;
  /** null: not reported. */
  readonly usage: Usage | null;
}

export interface StopClient {
  readonly name: ClientName;
  readonly title: string;
  /** The command that a person types in a conversation. */
  readonly commandName: string;
  /** How many stops of one prompt can be answered with more work; 0: no limit. */
  readonly cap: number;
  /** The answer to a prompt can add context for the model. */
  readonly givesContext: boolean;
  /** A prompt typed during a turn reaches the agent in that turn. */
  readonly steers: boolean;
  readonly read: (input: Fields) => Told;
  readonly render: (event: ClientEvent, answer: ConversationAnswer) => string;
  /** Reads the newest lines of the transcript; null: no known transcript, or not needed. */
  readonly readTurn: ((lines: readonly Fields[], told: Told) => TurnFacts) | null;
}

export function isClientName(name: string): name is ClientName {
  return CLIENT_NAMES.some((known) => known === name);
}

export function isClientEvent(name: string): name is ClientEvent {
  return CLIENT_EVENTS.some((known) => known === name);
}

/** A client's own field names; all clients share the other names. */
interface ToldNames {
  readonly session: string;
  readonly transcript?: string;
  readonly promptId?: string;
  readonly answer?: string;
}

/** Reads the fields that most clients have. */
export function readNamed(input: Fields, { session, transcript, promptId, answer }: ToldNames): Told {
  return {
    session: textOf(input, session),
    cwd: textOf(input, "cwd"),
    promptId: promptId === undefined ? null : textOf(input, promptId),
    prompt: textOf(input, "prompt"),
    answer: answer === undefined ? null : textOf(input, answer),
    facts: null,
    end: "ok",
    source: textOf(input, "source"),
    model: textOf(input, "model"),
    transcript: transcript === undefined ? null : textOf(input, transcript) || null,
  };
}

/** The text after the loop command; null: the prompt is not a loop command. */
export function typedAt(prompt: string): string | null {
  const found = /^[/$](?:prompts:)?loop(?:wright)?(?:\s+([\s\S]*))?$/.exec(prompt.trim());
  return found === null ? null : (found[1] ?? "").trim();
}
