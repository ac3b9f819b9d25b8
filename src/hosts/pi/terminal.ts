/**
 * pi as we meet it in one session: is it free, send something, tell the person something. pi takes its contexts back
 * when the session ends, and from then on every use of one throws: then nothing is free and nothing is told.
 */
import { readSmall } from "../../system/files.ts";
import type { PiApi, PiContext } from "./api.ts";
import { expandSlash } from "./typed/slash-prompt.ts";

/** Somebody who just cleared the input box may be about to type again. */
const TYPED_MS = 500;
/** From Enter to the start of the run; what another extension takes for itself starts none. */
const SUBMITTED_MS = 2_000;
/** A compaction that failed is not told of by older versions. */
const COMPACTING_MS = 120_000;
/** As terminals send it, plain or in the keyboard protocol of kitty. */
const ESCAPES = new Set(["", "[27u", "[27;1u", "[27;1:1u"].map((rest) => `\u001b${rest}`));

export class Terminal {
  readonly #pi: PiApi;
  readonly #ctx: PiContext;
  #isOver = false;
  #typedAt = Number.NEGATIVE_INFINITY;
  #submittedAt = Number.NEGATIVE_INFINITY;
  #compactingSince: number | null = null;
  #dialogs = 0;
  #dialog: Promise<unknown> = Promise.resolve();
  #unlisten: () => void = () => {};

  constructor(pi: PiApi, ctx: PiContext) {
    this.#pi = pi;
    this.#ctx = ctx;
  }

  /** Nothing runs, nothing waits, and nobody is in the middle of a sentence. */
  isFree(now: number): boolean {
    return this.#try(false, () => {
      if (this.isTyping(now) || this.#dialogs > 0) return false;
      return now - this.#submittedAt > SUBMITTED_MS && this.isIdle(now) && !this.#ctx.hasPendingMessages();
    });
  }

  /** No run of the agent's is under way. */
  isIdle(now: number): boolean {
    return this.#try(false, () => this.#ctx.isIdle() && !this.isCompacting(now));
  }

  isCompacting(now: number): boolean {
    return this.#compactingSince !== null && now - this.#compactingSince < COMPACTING_MS;
  }

  isTyping(now: number): boolean {
    if (this.#try("", () => this.#ctx.ui.getEditorText()) !== "") this.#typedAt = now;
    return now - this.#typedAt < TYPED_MS;
  }

  /** While it is on, nothing is free: a command is carried out, or its answer is still to be shown. */
  async hold<T>(act: () => Promise<T>): Promise<T> {
    this.#dialogs++;
    try {
      return await act();
    } finally {
      this.#dialogs--;
    }
  }

  noteSubmitted(now: number): void {
    this.#submittedAt = now;
  }

  noteStarted(): void {
    this.#submittedAt = Number.NEGATIVE_INFINITY;
    this.#compactingSince = null;
  }

  noteCompacting(now: number, signal: AbortSignal | undefined): void {
    this.#compactingSince = now;
    signal?.addEventListener("abort", () => this.noteCompacted(), { once: true });
  }

  noteCompacted(): void {
    this.#compactingSince = null;
  }

  /** false: pi has taken this session away. */
  send(text: string): boolean {
    return this.#try(false, () => {
      const commands = text.startsWith("/") ? (this.#pi.getCommands?.() ?? []) : [];
      this.#pi.sendUserMessage(text.startsWith("/") ? expandSlash(text, commands, readSmall) : text);
      return true;
    });
  }

  /** For the model, with what comes next. */
  remind(text: string): void {
    this.#try(undefined, () =>
      this.#pi.sendMessage(
        { customType: "loopwright", content: text, display: false },
        { deliverAs: "steer" },
      ),
    );
  }

  abort(): void {
    this.#try(undefined, () => this.#ctx.abort());
  }

  say(text: string, type: "info" | "warning" | "error" = "info"): void {
    if (text === "") return;
    const told = this.#try(false, () => {
      if (!this.#ctx.hasUI) return false;
      this.#ctx.ui.notify(text, type);
      return true;
    });
    // `pi -p`: its stdout is the answer of the model
    if (!told && !this.#isOver) process.stderr.write(`${text}\n`);
  }

  showStatus(line: string): void {
    this.#try(undefined, () => this.#ctx.ui.setStatus("loop", line === "" ? undefined : line));
  }

  /** One question at a time: a second dialog would take the place of the first. */
  ask<T>(question: (ui: PiContext["ui"]) => Promise<T>): Promise<T> {
    const asked = this.#dialog.then(() => this.hold(() => question(this.#ctx.ui)));
    this.#dialog = asked.catch(() => {});
    return asked;
  }

  get hasPerson(): boolean {
    return this.#try(false, () => this.#ctx.hasUI);
  }

  onEscape(escaped: () => void): void {
    this.#try(undefined, () => {
      const unlisten = this.#ctx.ui.onTerminalInput?.((data) => {
        if (ESCAPES.has(data) && this.#dialogs === 0) escaped();
        return undefined;
      });
      this.#unlisten = unlisten ?? this.#unlisten;
    });
  }

  close(): void {
    this.showStatus("");
    this.#try(undefined, () => this.#unlisten());
    this.#isOver = true;
  }

  #try<T>(otherwise: T, act: () => T): T {
    if (this.#isOver) return otherwise;
    try {
      return act();
    } catch {
      return otherwise;
    }
  }
}
