/**
 * Runs loops in the foreground of this process. `loop until`, `loop up`, `loop run`, `loop backlog run` and the demo
 * have this in common, and nothing else starts an engine in a terminal.
 *
 * Owns: the engine from its making to its end, the notifier, the questions of agents, the signals, and the look at
 * whether the folder `.loop` is still there. What is shown, when the run is over and which exit code it has is up to
 * the kind of run (`RunKind`).
 *
 * 1. The engine is made, started and awaited here only.
 * 2. Every signal reaches the kind with its number, also one that came before the engine was there. The process goes
 *    on listening to its end: closing a terminal sends more than one, and none may cut short what the first began.
 * 3. A folder that was removed or moved away ends the run. It is not put in its place again.
 * 4. When the engine is done, no question is open any more. Only then the kind is asked for the exit code.
 */
import { createEngine, type EngineSetup, thisRunner } from "../../compose/engine.ts";
import type { Engine, EngineNews, Role } from "../../engine/engine.ts";
import { LoopError } from "../../errors.ts";
import type { Notifier } from "../../ports/notifier.ts";
import type { Io } from "../io.ts";
import { createPermissionDesk, type PermissionReply } from "../live/permission-question.ts";
import type { Project } from "../project.ts";
import { isFiring } from "./firing.ts";
import { createNotifier } from "./notifier.ts";
import type { StopRequest, StopSignal } from "./signals.ts";

/** What every view of a run can do. */
export interface RunView {
  notify(title: string, body: string): void;
  problem(error: unknown): void;
  /** For what an agent asks leave for. null: nobody answers. */
  askPermission(question: string, withdrawn: AbortSignal): Promise<PermissionReply | null>;
}

export interface RunParts extends Pick<EngineSetup, "agent" | "backlogs" | "goalAgent" | "clock"> {
  readonly project: Project;
  readonly view: RunView;
  readonly stop: StopRequest;
  /** Somebody can be asked. */
  readonly hasPerson: boolean;
  /** The person's own command for notices. */
  readonly notifyCmd?: string | undefined;
  /** A part of the project's store, for an engine that must see no more. */
  readonly store?: EngineSetup["store"];
  readonly self?: EngineSetup["self"];
  readonly firing?: boolean;
}

/** What a kind of run knows of it, and may do to it. */
export interface Run {
  readonly role: Role;
  /** The folder, or what the run is about, was removed or moved away. */
  readonly isGone: boolean;
  /** Aborted when questions to the person are taken back. */
  readonly withdrawn: AbortSignal;
  stop(reason: string): Promise<void>;
  /** What the run is about is not there any more. */
  lose(): void;
  nudge(): void;
  notify(title: string, body: string): void;
  withdrawQuestions(): void;
}

export interface RunKind {
  /** The engine runs, and signals are heard. */
  started?(): void;
  observe(news: EngineNews): void;
  /** Somebody wrote to the store. */
  changed?(): void;
  /** Called once, before the engine stops because of it. */
  lost?(): void;
  interrupt(signal: StopSignal, nth: number): void | Promise<void>;
  /** Closes the view, and says the exit code. */
  end(): number | Promise<number>;
}

export function runForeground(parts: RunParts, createKind: (run: Run) => RunKind): Promise<number> {
  return new Foreground(parts, createKind).run();
}

/** Whether there is somebody who can be asked: LOOP_HEADLESS says that nobody is, whatever the terminal looks like. */
export function hasPerson({ interactive }: Io, flags: { readonly json?: boolean }): boolean {
  const { LOOP_HEADLESS = "" } = process.env;
  return interactive && !flags.json && /^(?:|0|false|no)$/i.test(LOOP_HEADLESS);
}

export function goneError(what: string): LoopError {
  return new LoopError("surroundings", `${what} is gone: .loop was removed or moved away.`);
}

class Foreground implements Run {
  readonly #parts: RunParts;
  readonly #notifier: Notifier;
  readonly #questions = new AbortController();
  readonly #kind: RunKind;
  readonly #engine: Engine;
  #isGone = false;

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
    // from here on this very folder is meant
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
    return this.#kind.end();
  }

  get role(): Role {
    return this.#engine.role;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get withdrawn(): AbortSignal {
    return this.#questions.signal;
  }

  stop(reason: string): Promise<void> {
    return this.#engine.stop(reason);
  }

  lose(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#kind.lost?.();
    void this.#engine.stop("the folder .loop was removed or moved away");
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
    if (!this.#isGone && !this.#parts.project.store.isInPlace()) this.lose();
    return !this.#isGone;
  }

  async #interrupt(signal: StopSignal, nth: number): Promise<void> {
    try {
      await this.#kind.interrupt(signal, nth);
    } catch (error) {
      this.#parts.view.problem(error);
    }
  }
}
