/**
 * What a person asked for by editing a published file. Only a store that is a folder has this. The store reads the
 * file and says what it means; the engine decides and commits like for a command.
 *
 * A request stays until it is confirmed. So a process that dies in between loses nothing, and two processes that take
 * the same request come to the same ids and create each task once.
 */
import type { LoopId, MissedPolicy } from "../core/loop.ts";

/** A task as a person writes it. A missing field takes its default; a field that is derived is ignored. */
export interface WantedTask {
  readonly id?: string | undefined;
  readonly prompt: string;
  readonly cron?: string | null | undefined;
  readonly everyMs?: number | null | undefined;
  readonly tz?: string | null | undefined;
  readonly recurring: boolean;
  readonly state: "active" | "paused" | "missed";
  readonly createdAt?: string | undefined;
  /** null: never; left out: as the config says. */
  readonly expiresAt?: string | null | undefined;
  readonly jitterMs?: number | undefined;
  readonly nextFireAt?: string | null | undefined;
  readonly missed?: MissedPolicy | undefined;
  readonly graceMs?: number | null | undefined;
  readonly timeoutMs?: number | undefined;
  readonly expect?: string | null | undefined;
  readonly alertAfter?: number | null | undefined;
  /** Of the task when the file was written: an edit of an older one is refused. */
  readonly version?: number | undefined;
}

export interface HandTask {
  readonly wanted: WantedTask;
  /** The same for every process that reads the same edit; `round` counts the ids that were taken. */
  newId(round: number): LoopId;
}

export type HandRequest =
  /** The file lists the tasks as they shall be. Tasks that were created after `knownBy` were not in it. */
  | { readonly kind: "edited"; readonly tasks: readonly HandTask[]; readonly knownBy: number }
  /** The loops themselves are gone or damaged, and the published file still lists these tasks. */
  | {
      readonly kind: "lost";
      readonly tasks: readonly HandTask[];
      /** The published file, for a person. */
      readonly from: string;
      /** A copy of what is left of the loops, for a person; null: nothing is left. */
      readonly keptAs: string | null;
    }
  /** The file means nothing. It was moved aside. */
  | { readonly kind: "unreadable"; readonly why: string; readonly movedTo: string };

export interface HandRequests {
  /** Cheap enough to ask before every command. */
  isAnyWaiting(): boolean;
  /** The tasks in the file, whoever wrote it: to show them to a person, never to carry them out. */
  listed(): Promise<readonly WantedTask[]>;
  /** Waits for an editor that is still saving. null: there is nothing to do. */
  take(): Promise<HandRequest | null>;
  /** It was carried out: the files are published anew. An edit that a person made since stays for the next time. */
  confirm(request: HandRequest): Promise<void>;
}
