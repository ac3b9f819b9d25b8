/**
 * Turns a person's changes in `tasks.json` into requests: a changed task is an edit, a missing one a deletion, a new one
 * a creation. An invalid file is moved aside.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { LoopId } from "../../core/loop.ts";
import { cleanLine } from "../../core/text/clean.ts";
import type { HandRequest, HandRequests, HandTask, WantedTask } from "../../ports/requests.ts";
import { quarantineTasksFile, readTasksFile, type TasksFileState } from "../files/tasks-file.ts";
import { openSigner, originOf } from "../signed/origin.ts";
import { lostTasks } from "./lost-tasks.ts";
import type { OpenedFolder } from "./opened-folder.ts";
import type { FolderPublisher } from "./published.ts";
import { createTrustStore } from "./trust.ts";

/** For the middle of a sentence. */
const TRACKED =
  "is tracked by git, so its changes do not count (remove it from git: git rm -r --cached .loop)";
const SETTLE_MS = 40;
const SETTLE_LOOKS = 5;

export class FolderRequests implements HandRequests {
  readonly #folder: OpenedFolder;
  readonly #publisher: FolderPublisher;
  /** The text of the file of each request. */
  readonly #texts = new WeakMap<HandRequest, string>();
  /** The text of the file that the person was told about. */
  #told: string | null = null;

  constructor(folder: OpenedFolder, publisher: FolderPublisher) {
    this.#folder = folder;
    this.#publisher = publisher;
  }

  /** Did a person change, damage or restore tasks.json? A file that came with a repository is not a request. */
  isAnyWaiting(): boolean {
    const { dir } = this.#folder;
    return originOf(dir) !== "foreign" && this.#isRequest(this.#file());
  }

  async listed(): Promise<readonly WantedTask[]> {
    const { tasksFileSchema } = await import("../../schema/tasks-file.ts");
    const file = this.#file();
    return tasksFileSchema.safeParse("content" in file ? file.content : null).data?.tasks ?? [];
  }

  async take(): Promise<HandRequest | null> {
    if (!this.isAnyWaiting()) return null;
    const file = await this.#readSettled();
    if (!this.#isRequest(file)) return null;
    if (file.kind === "edited") {
      const { files, problem } = await this.#folder.tracked();
      // moved aside, so that it is not taken for a person's edit once git does not track it any more
      if (files.some((path) => path.endsWith("/tasks.json"))) return this.#moveAside(TRACKED);
      if (await this.#isHeldBack(file, problem)) return null;
    }
    const request = file.kind === "published" ? await this.#lost() : await this.#read(file);
    if (file.text !== null) this.#texts.set(request, file.text);
    return request;
  }

  async confirm(request: HandRequest): Promise<void> {
    const adopted = request.kind === "unreadable" ? undefined : this.#texts.get(request);
    await this.#publisher.publish(adopted);
  }

  #isRequest(file: TasksFileState): boolean {
    if (file.kind === "published") return lostTasks(this.#folder).length > 0;
    return file.kind !== "absent";
  }

  async #read(file: TasksFileState): Promise<HandRequest> {
    const { tasksFileSchema } = await import("../../schema/tasks-file.ts");
    const content = file.kind === "edited" ? file.content : null;
    const parsed = tasksFileSchema.safeParse(content);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      const why =
        file.kind === "damaged"
          ? "did not parse"
          : `has a fault at ${issue?.path.join(".")}: ${issue?.message}`;
      return this.#moveAside(why);
    }
    const newIdFor = idsFrom(content);
    const tasks = parsed.data.tasks.map((wanted) => ({ wanted, newId: newIdFor(wanted) }));
    return { kind: "edited", tasks, knownBy: Date.parse(parsed.data.publishedAt ?? "") || 0 };
  }

  #moveAside(why: string): HandRequest {
    const movedTo = quarantineTasksFile(this.#folder.dir, this.#folder.now());
    return { kind: "unreadable", why, movedTo };
  }

  /** An edit that may have come with a pull waits, and one with a command until a person trusts the command. */
  async #isHeldBack({ text }: TasksFileState, problem: string | null): Promise<boolean> {
    const why =
      problem === null
        ? await this.#untrusted()
        : `Changes of .loop/tasks.json wait, because git does not tell whether it tracks the file: ${problem}.`;
    if (why !== null && this.#told !== text) this.#folder.say(why);
    this.#told = why === null ? null : text;
    return why !== null;
  }

  async #untrusted(): Promise<string | null> {
    const [first] = await this.untrustedCommands();
    if (first === undefined) return null;
    return `tasks.json asks to run a command that you have not trusted: \`${cleanLine(first.command)}\`. To see and trust it, type: loop trust`;
  }

  async untrustedCommands(): Promise<readonly { readonly path: string; readonly command: string }[]> {
    const { dir, journal } = this.#folder;
    const path = join(dir, "tasks.json");
    const trust = createTrustStore(process.env);
    const expectOf = (id: string | undefined): string | null => {
      const loop = journal.state.loops.get(id as LoopId);
      return loop?.kind === "task" ? loop.expect : null;
    };
    return (await this.listed())
      .filter(({ id, expect }) => expect != null && expect !== expectOf(id))
      .map(({ expect }) => ({ path, command: expect ?? "" }))
      .filter(({ path, command }) => !trust.isTrusted({ path, content: command }));
  }

  #file(): TasksFileState {
    const { dir, journal } = this.#folder;
    return readTasksFile(dir, journal.signer ?? openSigner(dir));
  }

  /** An editor that saves in place leaves half a file for a moment, so a damaged file is read again. */
  async #readSettled(): Promise<TasksFileState> {
    let file = this.#file();
    for (let look = 0; look < SETTLE_LOOKS && file.kind === "damaged"; look++) {
      await pause(SETTLE_MS);
      file = this.#file();
    }
    return file;
  }

  async #lost(): Promise<HandRequest> {
    const { fileTaskSchema } = await import("../../schema/tasks-file.ts");
    const { dir, journal, now } = this.#folder;
    const keptAs = journal.keepAside(now());
    const tasks = lostTasks(this.#folder).map(
      (lost): HandTask => ({ wanted: fileTaskSchema.parse(lost), newId: () => lost.id as LoopId }),
    );
    return { kind: "lost", tasks, from: `tasks.json in ${dir}`, keptAs };
  }
}

/** The id is a hash of the task and of the edited publication, so saving the same file twice adds a task once. */
function idsFrom(content: unknown): (wanted: WantedTask) => (round: number) => LoopId {
  const { publishedAt, journal } = content as { publishedAt?: string; journal?: unknown };
  const base = publishedAt === undefined ? content : [publishedAt, journal];
  const seen = new Map<string, number>();
  return (wanted) => {
    const task = JSON.stringify(wanted);
    const twin = seen.get(task) ?? 0;
    seen.set(task, twin + 1);
    return (round) => {
      const text = JSON.stringify([round, twin, task, base]);
      return createHash("sha256").update(text).digest("hex").slice(0, 8) as LoopId;
    };
  };
}
