// Texts from outside: the same however a system composed them, and never cut inside what people see as one character.
import fc from "fast-check";
import { expect, it } from "vitest";
import { cleanText, cutText } from "../../../src/events/classification/clean-text.ts";

const CHARACTERS = ["a", "é", "e\u0301", "ü", "👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "漢", "\u0000", "\ud83d", " "];
const mixture = fc
  .array(fc.constantFrom(...CHARACTERS), { maxLength: 40 })
  .map((characters) => characters.join(""));
const seen = (text: string) => [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)];

it("ends a cut text before the character that would be cut", () => {
  fc.assert(
    fc.property(mixture, fc.integer({ min: 0, max: 60 }), (text, most) => {
      const cut = cutText(text, most);
      expect(cut.length).toBeLessThanOrEqual(most);
      expect(text.startsWith(cut)).toBe(true);
      const ends = [0, ...seen(text).map(({ index, segment }) => index + segment.length)];
      expect(ends).toContain(cut.length);
    }),
  );
});

it("cleans a text to the same whichever form it was typed in", () => {
  fc.assert(
    fc.property(mixture, fc.integer({ min: 0, max: 60 }), (text, most) => {
      const cleaned = cleanText(text, most);
      expect(cleanText(text.normalize("NFD"), most)).toBe(cleaned);
      expect(cleaned.normalize("NFC")).toBe(cleaned);
      expect(cleaned.isWellFormed()).toBe(true);
    }),
  );
});

it("cuts what is one character without end at the bound", () => {
  const endless = `e${"\u0301".repeat(500)}`;
  expect(cutText(endless, 300)).toHaveLength(300);
});
