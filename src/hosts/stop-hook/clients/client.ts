/**
 * Clients other than Claude Code that ask somebody when a turn ends. What is different about each is data and three
 * mappings: what it tells, what it is answered, and what its own record says of the turn that just ended.
 */
import type { Usage } from "../../../core/base.ts";
import type { ConversationAnswer } from "../../conversation/answer.ts";
import { type Fields, textOf } from "../fields.ts";

export const CLIENT_NAMES = ["codex", "gemini", "cursor", "opencode", "copilot"] as const;

export type ClientName = (typeof CLIENT_NAMES)[number];

/** `said`: a message of the agent's, where the stop itself does not tell it. */
export const CLIENT_EVENTS = ["stop", "prompt", "start", "end", "interrupt", "said"] as const;

export type ClientEvent = (typeof CLIENT_EVENTS)[number];

/** What a client told, in one form. Input from outside: an empty text is what it did not tell. */
export interface Told {
  /** A session id may become a file's name: who uses it looks whether it can. */
  readonly session: string;
  readonly cwd: string;
  /** null: the client has no names for prompts. */
  readonly promptId: string | null;
  readonly prompt: string;
  /** What the agent said last; null: it is to be found elsewhere. */
  readonly answer: string | null;
  /** Of the turn that just ended; null: not told. */
  readonly facts: TurnFacts | null;
  readonly end: "ok" | "interrupted" | "failed";
  /** Why a conversation began. */
  readonly source: string;
  readonly model: string;
  readonly transcript: string | null;
}

/** What a client's own record says of the turn that just ended. */
export interface TurnFacts {
  /** null: no message that ends it. */
  readonly answer: string | null;
  readonly toolCalls: number;
  /** null: it does not tell. */
  readonly usage: Usage | null;
}

export interface StopClient {
  readonly name: ClientName;
  readonly title: string;
  /** What a person types in a conversation to reach us. */
  readonly commandName: string;
  /** Of one prompt so many stops can be answered with more work, whatever the agent does meanwhile; 0: all. */
  readonly cap: number;
  /** The answer to a prompt can bring more for the model. */
  readonly givesContext: boolean;
  /** What is typed while a turn runs reaches the agent in that turn. */
  readonly steers: boolean;
  readonly read: (input: Fields) => Told;
  readonly render: (event: ClientEvent, answer: ConversationAnswer) => string;
  /** From the newest lines of its transcript; null: it has none that is known, or all was told. */
  readonly readTurn: ((lines: readonly Fields[], told: Told) => TurnFacts) | null;
}

export function isClientName(name: string): name is ClientName {
  return CLIENT_NAMES.some((known) => known === name);
}

export function isClientEvent(name: string): name is ClientEvent {
  return CLIENT_EVENTS.some((known) => known === name);
}

/** A client's own names for what it tells; the rest has the same name with all of them. */
export interface ToldNames {
  readonly session: string;
  readonly transcript?: string;
  readonly promptId?: string;
  readonly answer?: string;
}

/** What most clients tell, by their names for it. */
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

/** What a person typed at us, without the word that reaches us; null: the prompt is not for us. */
export function typedAt(prompt: string): string | null {
  const found = /^[/$](?:prompts:)?loop(?:wright)?(?:\s+([\s\S]*))?$/.exec(prompt.trim());
  return found === null ? null : (found[1] ?? "").trim();
}
