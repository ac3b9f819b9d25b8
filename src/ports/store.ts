/**
 * Keeps all data of a project. The other files of this folder have the contracts of its parts.
 *
 * Loops and lease are one object, because a store compares a commit with both in one step. A store without files has
 * neither `published` nor `requests`.
 */
import type { TurnActivity } from "./activity.ts";
import type { LoopHistory } from "./history.ts";
import type { LeaseStore } from "./lease.ts";
import type { LoopStore } from "./loops.ts";
import type { PublishedFiles } from "./published.ts";
import type { HandRequests } from "./requests.ts";
import type { Sessions } from "./sessions.ts";

export type * from "./activity.ts";
export type * from "./history.ts";
export type * from "./lease.ts";
export type * from "./loops.ts";
export type * from "./published.ts";
export type * from "./requests.ts";
export type * from "./sessions.ts";

export interface Store extends LoopStore, LeaseStore {
  readonly history: LoopHistory;
  readonly sessions: Sessions;
  readonly activity?: TurnActivity;
  readonly published?: PublishedFiles;
  readonly requests?: HandRequests;
}
