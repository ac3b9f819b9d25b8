/** How conversations are named: by their client's id, and as owners of loops and leases. */

/** What a client may call a conversation. It becomes part of a file's name. */
const SAFE = /^[A-Za-z0-9-]{1,64}$/;
const PREFIX = "session:";

/** How loops and leases name a conversation. */
export function ownerOf(session: string): string {
  return `${PREFIX}${session}`;
}

/** null: not a conversation's. */
export function sessionOf(owner: string | null): string | null {
  return owner?.startsWith(PREFIX) ? owner.slice(PREFIX.length) : null;
}

/** An empty name, or one that could lead elsewhere, binds to nothing. */
export function isSessionId(text: string): boolean {
  return SAFE.test(text);
}
