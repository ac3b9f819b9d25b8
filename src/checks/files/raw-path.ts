/**
 * Represents file names that are not UTF-8 as unique strings: an invalid byte becomes a lone surrogate, which valid text
 * never contains. JSON keeps lone surrogates.
 */
import { TextDecoder } from "node:util";

const NOT_UTF8 = "�";
const STRAY = /[\udc80-\udcff]/;

/** From the bytes of the system to a string. */
export function decodePath(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!text.includes(NOT_UTF8) || Buffer.from(text).equals(bytes)) return text;
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let path = "";
  for (let at = 0; at < bytes.length; ) {
    const length = lengthAt(bytes, at, decoder);
    path +=
      length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString("utf8", at, at + length);
    at += Math.max(1, length);
  }
  return path;
}

/** From a string to the bytes of the system. */
export function encodePath(path: string): string | Buffer {
  if (!STRAY.test(path)) return path;
  const parts: Buffer[] = [];
  for (const character of path) {
    const stray = character.length === 1 && STRAY.test(character);
    parts.push(stray ? Buffer.from([character.charCodeAt(0) - 0xdc00]) : Buffer.from(character));
  }
  return Buffer.concat(parts);
}

/** The length of the character at this byte; 0: not a character. */
function lengthAt(bytes: Buffer, at: number, decoder: TextDecoder): number {
  const lead = bytes[at] ?? 0;
  const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    decoder.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}
