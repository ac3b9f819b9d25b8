/** The history of the folder store: the lines of the journal in the kept segments. */
import type { Loop } from "../../core/loop.ts";
import type {
  HistoryEntry,
  HistoryPage,
  HistoryQuery,
  LoopHistory,
  LoopReceipt,
  ReceiptQuery,
} from "../../ports/history.ts";
import { entryOf, loopsIn, pageOf, receiptsOf } from "../journal/history-page.ts";
import { type JournalPlace, JournalReader } from "../journal/journal-reader.ts";

export class FolderHistory implements LoopHistory {
  readonly #dir: string;
  /** The reader at the end of the last page, so that a follower reads nothing twice. */
  #reader: JournalReader | null = null;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async read(query: HistoryQuery = {}): Promise<HistoryPage> {
    const reader = this.#readerAt(query.after);
    if (reader === null) return { kind: "too-old" };
    const page = pageOf(entriesOf(reader), query, () => reader.place);
    if (page.kind === "page" && page.isEnd) this.#reader = reader;
    return page;
  }

  async end(): Promise<string> {
    const reader = this.#reader?.isInPlace() ? this.#reader : new JournalReader(this.#dir);
    for (const _ of reader.read());
    this.#reader = reader;
    return reader.place;
  }

  async everyLoop(): Promise<readonly Loop[]> {
    return loopsIn(new JournalReader(this.#dir).read());
  }

  async receipts(query: ReceiptQuery = {}): Promise<readonly LoopReceipt[]> {
    return receiptsOf(await this.everyLoop(), query);
  }

  /** null: the place no longer exists. */
  #readerAt(after: JournalPlace | undefined): JournalReader | null {
    if (after === undefined) return new JournalReader(this.#dir);
    const kept = this.#reader;
    // a reader moves while it reads, so two calls must not share it
    this.#reader = null;
    return kept?.place === after && kept.isInPlace() ? kept : JournalReader.resume(this.#dir, after);
  }
}

function* entriesOf(reader: JournalReader): Generator<HistoryEntry> {
  for (const entry of reader.read()) if (entry.type === "loop") yield entryOf(entry, reader.place);
}
