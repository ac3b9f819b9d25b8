/**
 * Makes a foreign journal one of this user's (H2): an earlier version wrote it without signatures, or it came from
 * elsewhere and a person has read what it runs. Signs exactly the lines that the person was shown.
 *
 * The origin is written last. After a crash in between, the folder is still foreign, and the person is asked again.
 */
import { createHash } from "node:crypto";
import { writeAtomic } from "../../system/files.ts";
import { newSigner, writeOrigin } from "../signed/origin.ts";
import { signAgain } from "./entry.ts";
import { Journal } from "./journal.ts";
import { generations, readWhole } from "./segment.ts";
import { segmentPath } from "./segment-path.ts";

/** The journal at the moment when a person was shown it. */
export interface JournalCopy {
  readonly segments: readonly { readonly generation: number; readonly text: string }[];
  readonly sha256: string;
}

export function copyJournal(dir: string): JournalCopy {
  const segments = generations(dir).map((generation) => ({
    generation,
    text: readWhole(segmentPath(dir, generation)).toString(),
  }));
  return { segments, sha256: createHash("sha256").update(JSON.stringify(segments)).digest("hex") };
}

export function takeOverJournal(dir: string, { segments }: JournalCopy): void {
  const signer = newSigner(dir);
  for (const { generation, text } of segments) {
    const lines = text.split("\n").map((line) => signAgain(line, signer) ?? line);
    writeAtomic(segmentPath(dir, generation), lines.join("\n"));
  }
  writeOrigin(dir, signer);
  acceptPast(dir);
}

/** A person said that the journal counts as it is, even if it was further before. */
export function acceptPast(dir: string): void {
  new Journal(dir).acceptPast();
}
