/** Notices on their way to a person: those of this engine's decisions, and those that came with others' requests. */
import type { Loop, LoopId, Notice } from "../core/loop.ts";
import { type EngineParts, notifySafely } from "./parts.ts";

export class Notices {
  readonly #parts: EngineParts;
  readonly #onHanded: (id: LoopId) => void;
  /** Handed over, and not yet written down as such. */
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

  /** What somebody else's request left to be said. */
  handAll(loops: Iterable<Loop | undefined>): void {
    for (const loop of loops) if (loop?.notice != null) this.hand(loop.id, loop.notice);
  }

  settle(id: LoopId): void {
    this.#handed.delete(id);
  }
}
