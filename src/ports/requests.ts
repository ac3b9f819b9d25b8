/**
 * Requests that a person makes by editing a published file. Only the folder store has this. The store reads the file
 * and says what it means; the engine decides and commits as for a command.
 *
 * A request stays until it is confirmed, so a process that dies meanwhile loses nothing. Two processes that take the
 * same request compute the same ids and create each task once.
 */
import type { LoopId, MissedPolicy } from "../core/loop.ts";

/** A task as a person writes it. A missing field takes its default; a computed field is ignored. */
export interface WantedTask {
  readonly id?: string | undefined;
  readonly prompt: string;
  readonly cron?: string | null | undefined;
  readonly everyMs?: number | null | undefined;
  readonly tz?: string | null | undefined;
  readonly recurring: boolean;
  readonly state: "active" | "paused" | "missed";
  readonly createdAt?: string | undefined;
  /** null: never. Default: the setting in the config. */
  readonly expiresAt?: string | null | undefined;
  readonly jitterMs?: number | undefined;
  readonly nextFireAt?: string | null | undefined;
  readonly missed?: MissedPolicy | undefined;
  readonly graceMs?: number | null | undefined;
  readonly timeoutMs?: number | undefined;
  readonly expect?: string | null | undefined;
  readonly alertAfter?: number | null | undefined;
  /** The version of the task in the file. The engine refuses an edit of an old version. */
  readonly version?: number | undefined;
}

export interface HandTask {
  readonly wanted: WantedTask;
  /** Equal for every process that reads the same edit. `round` counts the ids that were already in use. */
  newId(round: number): LoopId;
}

export type HandRequest =
  /** The file lists the tasks that the person wants. It does not know tasks that were created after `knownBy`. */
  | { readonly kind: "edited"; readonly tasks: readonly HandTask[]; readonly knownBy: number }
  /** The stored loops are missing or damaged, but the published file still lists these tasks. */
  | {
      readonly kind: "lost";
      readonly tasks: readonly HandTask[];
      /** The published file, for a person. */
      readonly from: string;
      /** A copy of the remaining data, for a person; null: nothing remains. */
      readonly keptAs: string | null;
    }
  /** The file is not valid, or it came with a pull. The store moved it aside. */
  | { readonly kind: "unreadable"; readonly why: string; readonly movedTo: string };

export interface HandRequests {
  /** Cheap enough to call before every command. */
  isAnyWaiting(): boolean;
  /** The tasks in the file, whoever wrote them. Only for display: the engine never runs them. */
  listed(): Promise<readonly WantedTask[]>;
  /** The commands in the file that a person has not trusted yet. While there is one, `take` answers null. */
  untrustedCommands(): Promise<readonly { readonly path: string; readonly command: string }[]>;
  /** Waits for an editor that is still saving. null: there is no request. */
  take(): Promise<HandRequest | null>;
  /** The request was carried out: publishes the files again. A newer edit stays for the next `take`. */
  confirm(request: HandRequest): Promise<void>;
}
