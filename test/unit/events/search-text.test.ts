// Which texts a search finds: case, accents and compatible forms make no difference in any script.
import fc from "fast-check";
import { expect, it } from "vitest";
import { searchText, searchWords } from "../../../src/events/links/search-text.ts";

const URLS = { shortUrl: "https://sho.rt/abc", longUrl: "https://example.com/Page" };
const isFound = (search: string, title: string) => {
  const text = searchText({ ...URLS, title });
  return searchWords(search).every((word) => text.includes(word));
};

it.each([
  ["CAFÉ", "café"],
  ["cafe", "Cafe\u0301"],
  ["STRASSE", "Straße"],
  ["straße", "STRASSE"],
  ["ПРИВЕТ", "привет мир"],
  ["ΟΔΟΣ", "οδός"],
  ["οδος", "ΟΔΟΣ"],
  ["istanbul", "İSTANBUL"],
  ["ﬁnd", "FIND"],
  ["１２", "No. 12"],
  ["sale  spring", "Spring sale"],
  ["한국", "한국어"],
  ["", "anything"],
  ["page abc", "URLs count too"],
])("finds %j in %j", (search, title) => {
  expect(isFound(search, title)).toBe(true);
});

it.each([
  ["spring sale", "Spring"],
  ["が", "か"],
  ["xz", "x z"],
])("does not find %j in %j", (search, title) => {
  expect(isFound(search, title)).toBe(false);
});

it("finds each tag, external id and comment, and no word across two of them", () => {
  const text = searchText({
    ...URLS,
    title: "T",
    tags: ["One", "Two"],
    externalId: "Order-7",
    comments: "by\nÄnne",
  });
  for (const word of ["one", "two", "order-7", "by", "anne"]) expect(text).toContain(searchWords(word)[0]);
  expect(text).not.toContain("onetwo");
});

it("finds a text by itself, and by itself in upper and lower case", () => {
  const words = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }), { maxLength: 4 });
  fc.assert(
    fc.property(words, (parts) => {
      const title = parts.join(" ");
      for (const search of [title, title.toUpperCase(), title.toLowerCase()])
        expect(isFound(search, title)).toBe(true);
    }),
  );
});
