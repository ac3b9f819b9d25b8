/** Any letters at all, escape sequences and half letters too. Cheaper to set up than the strings of fast-check. */
import fc from "fast-check";

const ANY = fc.oneof(
  fc.integer({ min: 0, max: 0xff }),
  fc.integer({ min: 0x2000, max: 0x206f }),
  fc.integer({ min: 0, max: 0x10ffff }),
  fc.constant(0x1b),
);

export function anyText(maxLength = 12): fc.Arbitrary<string> {
  return fc.array(ANY, { maxLength }).map((codes) => String.fromCodePoint(...codes));
}
