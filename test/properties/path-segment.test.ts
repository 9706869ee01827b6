// What mail programs and chats glue to a short link's address never keeps its reader from the link.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pathSegment } from "../../src/redirect/http/path-segment.ts";

const SLUG_CHARACTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"];

const slug = fc.string({ unit: fc.constantFrom(...SLUG_CHARACTERS), minLength: 1, maxLength: 100 });
const noSlugCharacter = fc
  .oneof(
    fc.constantFrom(...".,;:!)]}>'\"*|~ \u3002\uff0c\u2026\u00a0\u201d"),
    fc.string({ unit: "grapheme", minLength: 1 }),
  )
  .map((text) => text.replace(/[A-Za-z0-9_-]/g, "").toWellFormed())
  .filter((text) => text !== "");
/** As a client sends it: percent-encoded where a path needs that, and where it doesn't. */
const glued = fc.tuple(noSlugCharacter, fc.boolean()).map(([text, isEager]) => {
  const encoded = encodeURIComponent(text);
  return isEager ? encoded.replace(/[!'()*.~]/g, hex) : encoded;
});
const hex = (character: string) => `%${character.charCodeAt(0).toString(16)}`;
const glue = fc.array(glued, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
const behind = fc.oneof(
  glue,
  fc.tuple(fc.oneof(fc.constant(""), glue), fc.oneof(fc.constant(""), glue)).map((two) => two.join("/")),
);
const query = fc.constantFrom("", "?", "?qr=1", "?a=/b.c//");

describe("the slug in a path", () => {
  it("is found whatever follows it that no slug can hold, with one slash at most", () => {
    fc.assert(
      fc.property(slug, behind, query, (name, tail, question) => {
        expect(pathSegment(`/${name}${tail}${question}`)).toBe(name);
      }),
    );
  });

  it("is not found where a character of a slug follows, or a second slash", () => {
    fc.assert(
      fc.property(slug, behind, fc.constantFrom(...SLUG_CHARACTERS), (name, tail, more) => {
        expect(pathSegment(`/${name}${tail}${more}`)).not.toBe(name);
        expect(pathSegment(`/${name}/${tail}/`)).toBeUndefined();
      }),
    );
  });

  it("is decided in time that grows with the length only", () => {
    const long = `/${"a".repeat(100)}${"%2e".repeat(5_000)}`;
    const started = performance.now();
    for (let round = 0; round < 100; round++) pathSegment(`${long}a`);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
