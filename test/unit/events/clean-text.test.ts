// Texts from outside: the same however a system composed them, and never cut inside what people see as one character.
import fc from "fast-check";
import { expect, it } from "vitest";
import { cleanText } from "../../../src/events/classification/clean-text.ts";
import { shortDestination } from "../../../src/projections/definitions/rule-hits.ts";
import { bounded } from "../../../src/projections/definitions/summaries/tally.ts";
import { cutText } from "../../../src/runtime/text/cut-text.ts";
import { setAsideEvent } from "../../../src/stores/coordination/set-aside.ts";

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

it("ends so wherever texts of strangers are shortened: in tallies, destinations of rules, and notes of errors", () => {
  const long = fc.tuple(fc.nat(70), mixture).map(([n, text]) => "x".repeat(130 + n) + text.repeat(20));
  const ends = (text: string) => [0, ...seen(text).map(({ index, segment }) => index + segment.length)];
  fc.assert(
    fc.property(
      long.map((text) => text.toWellFormed()),
      (text) => {
        const read = { position: "1", stream: "s", revision: 0, type: "T", error: "" };
        const { error } = setAsideEvent(read, new Error(text.repeat(4)));
        expect(ends(text.repeat(4))).toContain(error.length);
        expect(ends(text)).toContain(bounded(text).length);
        const [, kept = text] = /^(.*)… [0-9a-f]{12}$/s.exec(shortDestination(text)) ?? [];
        expect(ends(text)).toContain(kept.length);
      },
    ),
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
