/** JSON files of the engine, with a signature of all other fields as the last field, `sum`. */
import type { Signer } from "./signer.ts";

export function renderSigned(signer: Signer, purpose: string, content: object): string {
  const sum = signer.sign(purpose, JSON.stringify(content));
  return `${JSON.stringify({ ...content, sum }, null, 2)}\n`;
}

/** Did the engine write this content here, and nobody change it since? */
export function isSigned(signer: Signer | null, purpose: string, content: object): boolean {
  const { sum, ...rest } = content as Record<string, unknown>;
  return signer?.isOurs(purpose, JSON.stringify(rest), sum) === true;
}
