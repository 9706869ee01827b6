// Text of any Unicode characters, for properties of what strangers send.
import fc from "fast-check";

const LOW_SURROGATES_END = 0xdfff;
const SURROGATES = 0x800;
const HIGH_SURROGATES_START = LOW_SURROGATES_END + 1 - SURROGATES;

/** Half of a pair is no character. */
const character = fc
  .nat({ max: 0x10ffff - SURROGATES })
  .map((n) => String.fromCodePoint(n < HIGH_SURROGATES_START ? n : n + SURROGATES));

/** As `fc.string` with its unit `binary`, which takes seconds of a processor for a table of all characters. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(character, { maxLength }).map((characters) => characters.join(""));
}
