/** The end of a long text, at most this many bytes of UTF-8, never starting in the middle of a character. */
export function lastBytes(text: string, capBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= capBytes) return text;
  let from = bytes.length - capBytes;
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return bytes.toString("utf8", from);
}
