/** Splits a stream of bytes into lines. Holds the incomplete last line. */

const NEWLINE = 0x0a;

/** Skips lines of more than `maxBytes`. `midLine`: also skips the rest of the first line. */
export function createLineSplitter(maxBytes: number, midLine = false) {
  let parts: Uint8Array[] = [];
  let size = 0;
  let isSkipping = midLine;

  function add(part: Uint8Array): void {
    size += part.length;
    if (size > maxBytes) isSkipping = true;
    if (isSkipping) parts = [];
    // a copy, because the caller reuses the bytes
    else if (part.length > 0) parts.push(Buffer.from(part));
  }

  function take(): string | null {
    const line = isSkipping ? null : Buffer.concat(parts).toString("utf8").replace(/\r$/, "");
    forget();
    return line;
  }

  function forget(): void {
    parts = [];
    size = 0;
    isSkipping = false;
  }

  return {
    /** The complete lines, without line ends. Skips all lines after the first `most`, without looking at each. */
    push(bytes: Uint8Array, most = Number.POSITIVE_INFINITY): readonly string[] {
      const lines: (string | null)[] = [];
      let from = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
        if (lines.length >= most) {
          end = bytes.lastIndexOf(NEWLINE);
          forget();
        } else {
          add(bytes.subarray(from, end));
          lines.push(take());
        }
        from = end + 1;
      }
      add(bytes.subarray(from));
      return lines.filter((line) => line !== null);
    },
    /** The incomplete last line; null: none. */
    rest: () => (size === 0 ? null : take()),
  };
}

/** The last `capBytes` bytes of a text in UTF-8, never starting in the middle of a character. */
export function lastBytes(text: string, capBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= capBytes) return text;
  let from = bytes.length - capBytes;
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return bytes.toString("utf8", from);
}
