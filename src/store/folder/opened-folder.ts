/** An open `.loop` folder: its journal, and the check before every write. */
import { statSync } from "node:fs";
import type { LineVerdict } from "../journal/admission.ts";
import { Journal, type JournalOptions } from "../journal/journal.ts";
import type { Signer } from "../signed/signer.ts";
import { checkDir, claimLoopDir, folderIdentity, whileReading, whileWriting } from "./loop-dir.ts";

interface Tracked {
  readonly files: readonly string[];
  /** Why git does not tell; null: it told. */
  readonly problem: string | null;
}

export interface FolderOptions extends Partial<JournalOptions> {
  readonly now: () => number;
  /** Shows a message to the person: a file was moved aside, or watching is limited. */
  readonly say: (message: string) => void;
  /** The engine's files that git tracks: their changes may have come with a pull. Default: none. */
  readonly tracked?: () => Promise<Tracked>;
}

export class OpenedFolder {
  readonly dir: string;
  readonly journal: Journal;
  readonly now: () => number;
  readonly say: (message: string) => void;
  readonly tracked: () => Promise<Tracked>;
  #identity: string | null = null;
  #claimed: { readonly folder: string; readonly signer: Signer } | null = null;

  constructor(dir: string, options: FolderOptions) {
    checkDir(dir);
    this.dir = dir;
    this.now = options.now;
    this.say = options.say;
    this.tracked = options.tracked ?? (async () => ({ files: [], problem: null }));
    this.journal = new Journal(dir, options);
  }

  /** false after `rm -rf`, `git clean -fdx` or a move of the project. */
  isInPlace(): boolean {
    const identity = folderIdentity(this.dir);
    this.#identity ??= identity;
    return identity !== null && identity === this.#identity;
  }

  read<T>(act: (journal: Journal) => T): T {
    return whileReading(`${this.dir}/journal.jsonl`, () => act(this.journal));
  }

  append(entry: Parameters<Journal["append"]>[0], mayWait = false): LineVerdict {
    return whileWriting(`${this.dir}/journal.jsonl`, () => {
      this.claim();
      return this.journal.append(entry, mayWait);
    });
  }

  /** Throws a sentence when writing is not allowed. Checks again when a checkout replaced the folder. */
  claim(): Signer {
    const { ino, birthtimeMs } = statSync(this.dir);
    const folder = `${ino}:${birthtimeMs}`;
    if (this.#claimed?.folder !== folder) this.#claimed = { folder, signer: claimLoopDir(this.dir) };
    return this.#claimed.signer;
  }
}
