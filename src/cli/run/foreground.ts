/**
 * Runs loops in the foreground: for `loop until`, `loop up`, `loop run`, `loop backlog run` and the demo.
 *
 * Owns the engine, the notifier, the questions of agents, the signals, and the watch on the folder `.loop`. The kind of
 * run (`RunKind`) decides what is shown, when the run ends and which exit code it has.
 *
 * 1. Only this file creates, starts and awaits an engine in a terminal.
 * 2. Every signal reaches the kind with its number, even one that came before the engine. The process listens until it
 *    ends: closing a terminal sends several signals, and none may interrupt the work of the first.
 * 3. The run ends when the folder `.loop` is removed or moved. The run never creates it again.
 * 4. All questions are closed when the engine is done. Then the kind returns the exit code.
 */
import { createEngine, type EngineSetup, thisRunner } from "../../compose/engine.ts";
import type { Engine, EngineNews, Role } from "../../engine/engine.ts";
import { type LoopError, surroundingsError } from "../../errors.ts";
import type { Notifier } from "../../ports/notifier.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { createPermissionDesk } from "../live/permission-question.ts";
import type { RunView } from "../live/view.ts";
import type { Project } from "../project.ts";
import { isFiring } from "./firing.ts";
import { createNotifier } from "./notifier.ts";
import type { StopRequest, StopSignal } from "./signals.ts";

export interface RunFlags {
  readonly json?: boolean;
  readonly notifyCmd?: string;
}

export interface RunParts extends Pick<EngineSetup, "agent" | "backlogs" | "goalAgent" | "clock"> {
  readonly project: Project;
  readonly view: RunView;
  readonly stop: StopRequest;
  /** Default: nobody can answer questions. */
  readonly hasPerson?: boolean;
  readonly notifyCmd?: string | undefined;
  /** For an engine that must see only a part of the project's store. */
  readonly store?: EngineSetup["store"];
  readonly self?: EngineSetup["self"];
  readonly firing?: boolean;
}

export interface Run {
  readonly role: Role;
  /** The folder or the loop was removed or moved. */
  readonly isGone: boolean;
  /** Aborted when questions to the person are withdrawn. */
  readonly withdrawn: AbortSignal;
  stop(reason: string): Promise<void>;
  /** Ends the run because its loop no longer exists. */
  lose(): void;
  nudge(): void;
  notify(title: string, body: string): void;
  withdrawQuestions(): void;
}

export interface RunKind {
  /** Called when the engine runs and signals are handled. */
  started?(): void;
  observe(news: EngineNews): void;
  /** The store changed. */
  changed?(): void;
  /** The folder is gone. Called once, before the engine stops. */
  lost?(): void;
  /** Default: stops the engine. */
  interrupt?(signal: StopSignal, nth: number): void | Promise<void>;
  /** Closes the view and returns the exit code. */
  end?(): number | Promise<number>;
}

export function runForeground(parts: RunParts, createKind: (run: Run) => RunKind): Promise<number> {
  return new Foreground(parts, createKind).run();
}

/** Whether a person can answer questions. LOOP_HEADLESS says no, even in a terminal. */
export function hasPerson({ interactive }: Io, flags: { readonly json?: boolean }): boolean {
  const { LOOP_HEADLESS = "" } = process.env;
  return interactive && !flags.json && /^(?:|0|false|no)$/i.test(LOOP_HEADLESS);
}

export function goneError(what: string): LoopError {
  return surroundingsError(`${what} is gone: the folder .loop was removed or moved.`);
}

class Foreground implements Run {
  readonly #parts: RunParts;
  readonly #notifier: Notifier;
  readonly #questions = new AbortController();
  readonly #kind: RunKind;
  readonly #engine: Engine;
  readonly withdrawn = this.#questions.signal;
  isGone = false;

  constructor(parts: RunParts, createKind: (run: Run) => RunKind) {
    const { project, view, notifyCmd, stop: _, hasPerson, store = project.store, ...given } = parts;
    this.#parts = parts;
    this.#notifier = createNotifier(notifyCmd, view);
    this.#kind = createKind(this);
    const ask = createPermissionDesk((question, signal) =>
      view.askPermission(question, AbortSignal.any([signal, this.withdrawn])),
    );
    this.#engine = createEngine({
      self: thisRunner(),
      firing: isFiring(process.env),
      ...given,
      store,
      project: project.root,
      notifier: this.#notifier,
      ...(hasPerson ? { askPerson: ask } : {}),
      observe: (news) => {
        this.#lookAtPlace();
        this.#kind.observe(news);
      },
    });
  }

  async run(): Promise<number> {
    const { project, stop } = this.#parts;
    // remember this folder, to notice when it is replaced
    project.store.isInPlace();
    const unwatch = project.store.watch(() => {
      if (this.#lookAtPlace()) this.#kind.changed?.();
    });
    this.#engine.start();
    stop.hear((signal, nth) => void this.#interrupt(signal, nth));
    this.#kind.started?.();
    await this.#engine.done;
    unwatch();
    this.#lookAtPlace();
    this.withdrawQuestions();
    return this.#kind.end?.() ?? EXIT.ok;
  }

  get role(): Role {
    return this.#engine.role;
  }

  stop(reason: string): Promise<void> {
    return this.#engine.stop(reason);
  }

  lose(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.#kind.lost?.();
    void this.#engine.stop("the folder .loop was removed or moved");
  }

  nudge(): void {
    this.#engine.nudge();
  }

  notify(title: string, body: string): void {
    this.#notifier.notify(title, body, "stopped");
  }

  withdrawQuestions(): void {
    this.#questions.abort();
  }

  #lookAtPlace(): boolean {
    if (!this.isGone && !this.#parts.project.store.isInPlace()) this.lose();
    return !this.isGone;
  }

  async #interrupt(signal: StopSignal, nth: number): Promise<void> {
    try {
      if (this.#kind.interrupt === undefined) void this.stop(`stopped by a person (${signal})`);
      else await this.#kind.interrupt(signal, nth);
    } catch (error) {
      this.#parts.view.problem(error);
    }
  }
}
