/** Names of conversations: the client's id, and the owner of loops and leases. */

const PREFIX = "session:";

export function ownerOf(session: string): string {
  return `${PREFIX}${session}`;
}

/** null: the owner is not a conversation. */
export function sessionOf(owner: string | null): string | null {
  return owner?.startsWith(PREFIX) ? owner.slice(PREFIX.length) : null;
}

/** The id becomes part of a file name, so only safe characters are allowed. */
export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9-]{1,64}$/.test(text);
}
