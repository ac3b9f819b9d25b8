/**
 * pi in one session: is it free, send a message, show something to the person. After the session has ended every use of
 * pi's context throws; then nothing is free and nothing is shown.
 */
import { readSmall } from "../../system/files.ts";
import type { PiApi, PiContext } from "./api.ts";
import { expandSlash } from "./typed/slash-prompt.ts";

/** A person who just cleared the input box may type again. */
const TYPED_MS = 500;
/** From Enter to the start of the run. Input that another extension handles starts no run. */
const SUBMITTED_MS = 2_000;
/** Older versions do not report a failed compaction. */
const COMPACTING_MS = 120_000;
/** The Esc key, plain or in kitty's keyboard protocol. */
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

  /** Nothing runs, nothing waits, and the person is not typing. */
  isFree(now: number): boolean {
    return this.#try(false, () => {
      if (this.isTyping(now) || this.#dialogs > 0) return false;
      return now - this.#submittedAt > SUBMITTED_MS && this.isIdle(now) && !this.#ctx.hasPendingMessages();
    });
  }

  /** No run of the agent is in progress. */
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

  /** While `act` runs, the terminal is not free. */
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

  /** false: the session has ended. */
  send(text: string): boolean {
    return this.#try(false, () => {
      const commands = text.startsWith("/") ? (this.#pi.getCommands?.() ?? []) : [];
      this.#pi.sendUserMessage(text.startsWith("/") ? expandSlash(text, commands, readSmall) : text);
      return true;
    });
  }

  /** Adds text for the model to the next message. */
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
    // `pi -p`: stdout is only for the model's answer
    if (!told && !this.#isOver) process.stderr.write(`${text}\n`);
  }

  readonly complain = (error: unknown): void =>
    this.say(`[LOOP] ${error instanceof Error ? error.message : String(error)}`, "error");

  showStatus(line: string): void {
    this.#try(undefined, () => this.#ctx.ui.setStatus("loop", line === "" ? undefined : line));
  }

  /** One question at a time: a second dialog would replace the first. */
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
