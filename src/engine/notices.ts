/** Sends notices to a person: from the engine's own decisions and from requests of other processes. */
import type { Loop, LoopId, Notice } from "../core/loop.ts";
import { type EngineParts, notifySafely } from "./parts.ts";

export class Notices {
  readonly #parts: EngineParts;
  readonly #onHanded: (id: LoopId) => void;
  /** Sent, but not yet recorded as sent. */
  readonly #handed = new Map<LoopId, string>();

  constructor(parts: EngineParts, onHanded: (id: LoopId) => void) {
    this.#parts = parts;
    this.#onHanded = onHanded;
  }

  hand(id: LoopId, notice: Notice): void {
    const text = `${notice.title}\n${notice.body}`;
    if (this.#handed.get(id) === text) return;
    this.#handed.set(id, text);
    notifySafely(this.#parts, notice);
    this.#onHanded(id);
  }

  /** Sends the notices that other processes left in these loops. */
  handAll(loops: Iterable<Loop | undefined>): void {
    for (const loop of loops) if (loop?.notice != null) this.hand(loop.id, loop.notice);
  }

  settle(id: LoopId): void {
    this.#handed.delete(id);
  }
}
