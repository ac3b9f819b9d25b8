/**
 * Signs the engine's files of one `.loop` folder, with a key that follows from the user's key, the id in `origin` and
 * the inode of the folder. So what was signed in one folder is not valid in another folder, and a clone or a copy of the
 * folder is not valid at all.
 */
import { createHmac } from "node:crypto";

/** 128 bits, as hexadecimal digits. */
export const SIGNATURE_LENGTH = 32;

export class Signer {
  /** Names the journal outside the project. */
  readonly id: string;
  readonly #key: Buffer;

  constructor(userKey: Buffer, id: string, inode: bigint) {
    this.id = id;
    this.#key = createHmac("sha256", userKey).update(`loopwright folder 1\n${id}\n${inode}`).digest();
  }

  /** `purpose` keeps a signature of one kind of file from being valid in another kind. */
  sign(purpose: string, text: string): string {
    const hash = createHmac("sha256", this.#key).update(purpose).update("\n").update(text);
    return hash.digest("hex").slice(0, SIGNATURE_LENGTH);
  }

  isOurs(purpose: string, text: string, signature: unknown): boolean {
    return this.sign(purpose, text) === signature;
  }
}
