// Which texts a search finds: case, accents and compatible forms make no difference in any script.
import fc from "fast-check";
import { expect, it } from "vitest";
import { searchText, searchWords } from "../../../src/events/links/search-text.ts";
import { readableUrl } from "../../../src/portal/links/urls.ts";

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
  ["lodz", "Łódź"],
  ["ŁÓDŹ", "lodz"],
  ["smorrebrod", "Smørrebrød"],
  ["dakovo", "Đakovo"],
  ["coeur", "Cœur"],
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

const segments = fc.array(
  fc.oneof(
    fc.constantFrom("Zürich", "例え", "%FC", "a b", "100%25", "Łódź", "x"),
    fc.string({ unit: "grapheme" }),
  ),
  { maxLength: 3 },
);

it("finds an address as it is stored, as it is shown, and what was cut out of any of these", () => {
  const hosts = fc.constantFrom("müller.example", "例え.テスト", "example.com");
  const cuts = fc.tuple(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.double({ min: 0, max: 1, noNaN: true }),
  );
  fc.assert(
    fc.property(hosts, segments, segments, cuts, (host, path, values, [start, length]) => {
      const written = `https://${host}/${path.map(encoded).join("/")}?q=${values.map(encoded).join("&")}`;
      const { href } = new URL(written);
      const text = searchText({ ...URLS, longUrl: href });
      const withHost = href.replace(/xn--[^/]+/, host);
      for (const spelt of [href, withHost, readableUrl(href), href.replace(/^.*?\.[^/]*/, ""), host]) {
        const from = Math.floor(start * spelt.length);
        const cut = spelt.slice(from, from + Math.ceil(length * spelt.length));
        // A cut at the end is what was typed so far; one at the start is inside no character.
        const part = cut.replace(/^%?[\da-f]{0,2}(?:%[\da-f]{2})*/i, "").replace(/\p{Surrogate}/gu, "");
        for (const words of [spelt, part])
          for (const word of searchWords(words)) expect(text, `${words} in ${href}`).toContain(word);
      }
    }),
  );
});

/** As some address bars do: what is no code stays as it is. */
function encoded(segment: string): string {
  return segment === "%FC" ? segment : encodeURIComponent(segment.toWellFormed());
}
