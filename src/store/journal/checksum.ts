/** CRC-32, like zlib. Written here, because loading `node:zlib` is too slow for `loop list`. */
const TABLE = new Uint32Array(256).map((_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb8_8320 : value >>> 1;
  return value;
});

/** Eight hexadecimal digits. */
export function checksum(text: string): string {
  const bytes = Buffer.from(text);
  let crc = 0xffff_ffff;
  for (let i = 0; i < bytes.length; i++)
    crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return ((crc ^ 0xffff_ffff) >>> 0).toString(16).padStart(8, "0");
}
