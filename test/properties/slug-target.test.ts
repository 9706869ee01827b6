// What mail programs and chats glue to a short link's address never keeps its reader from the link.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { slugTarget } from "../../src/redirect/http/slug-target.ts";

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
/** Which no client should send, and which is no query. */
const fragment = fc.constantFrom("", "#", "#a=b?c=d");

/** What ends the path for a reader, though not for HTTP, and how the query behind it is then sent. */
const separator = fc.constantFrom<readonly [sent: string, isEncoded: boolean]>(
  ...([
    ["&", false],
    ["&amp;", false],
    [";", false],
    ["%3F", true],
    ["%3f", true],
    ["%26", true],
  ] as const),
);
const SEPARATOR = /[&;]|%(?:3f|26|3b|23)/i;
const parameters = fc.array(
  fc
    .tuple(fc.stringMatching(/^[a-z_]{1,12}$/), fc.string({ unit: "grapheme", maxLength: 12 }))
    .map(([name, value]) => [name, value.toWellFormed()] as const),
  { minLength: 1, maxLength: 4 },
);
const slashes = fc.constantFrom("/", "//", "///");
const written = (of: readonly (readonly [string, string])[], between = "&") =>
  of.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join(between);

describe("the slug in a path", () => {
  it("is found whatever follows it that no slug can hold, with one slash at most behind it", () => {
    fc.assert(
      fc.property(slashes, slug, behind, query, fragment, (before, name, tail, question, end) => {
        const query = question.slice(1);
        expect(slugTarget(`${before}${name}${tail}${question}${end}`)).toEqual({ slug: name, query });
      }),
    );
  });

  it("is found before a query that a program has made part of the path, and the query with it", () => {
    const tails = fc.oneof(fc.constant(""), fc.constant("/"), glue).filter((tail) => !SEPARATOR.test(tail));
    fc.assert(
      fc.property(
        slug,
        tails,
        separator,
        parameters,
        query,
        (name, tail, [sent, isEncoded], of, question) => {
          const text = written(of, sent === ";" ? ";" : "&");
          const target = slugTarget(
            `/${name}${tail}${sent}${isEncoded ? encodeURIComponent(text) : text}${question}`,
          );
          expect(target?.slug).toBe(name);
          const own = question.slice(1);
          expect([...new URLSearchParams(target?.query)]).toEqual([...of, ...new URLSearchParams(own)]);
        },
      ),
    );
  });

  it("is found in an address that was cut, inside of an encoded character too", () => {
    fc.assert(
      fc.property(slug, noSlugCharacter, fc.nat(12), (name, tail, cut) => {
        const whole = `/${name}${encodeURIComponent(tail)}`;
        expect(slugTarget(whole.slice(0, Math.max(name.length + 1, whole.length - cut)))?.slug).toBe(name);
      }),
    );
  });

  it("is read of any bytes without an error", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."/%&;?#=.a1Ff3"), maxLength: 30 }), (text) => {
        const target = slugTarget(`/${text}`);
        expect(target === undefined || typeof target.query === "string").toBe(true);
      }),
    );
  });

  it("is not found where a character of a slug follows, or a second slash", () => {
    const plainBehind = behind.filter((tail) => !SEPARATOR.test(tail));
    fc.assert(
      fc.property(slug, plainBehind, fc.constantFrom(...SLUG_CHARACTERS), (name, tail, more) => {
        expect(slugTarget(`/${name}${tail}${more}`)?.slug).not.toBe(name);
        expect(slugTarget(`/${name}/${tail}/`)).toBeUndefined();
      }),
    );
  });

  it.each([
    ["/abc&utm_source=x", "abc", "utm_source=x"],
    ["/abc;x=1", "abc", "x=1"],
    ["/abc%3Fx=1", "abc", "x=1"],
    ["/abc%3Fu%3Dhttps%3A%2F%2Fa.example%2F%26b%3D%2520?c=3", "abc", "u=https://a.example/&b=%20&c=3"],
    ["/abc&u=https://a.example/b", "abc", "u=https://a.example/b"],
    ["//abc", "abc", ""],
    ["/abc%", "abc", ""],
    ["/abc&", "abc", ""],
    ["/abc%23part=1", "abc", ""],
    ["/abc;jsessionid", "abc", ""],
    ["/robots.txt;x=1", "robots.txt", "x=1"],
    ["/abc.x&a=1", "abc.x", "a=1"],
    ["/abc&qr=1", "abc", "qr=1"],
  ])("of %s is %s, with the query %j", (url, name, sent) => {
    expect(slugTarget(url)).toEqual({ slug: name, query: sent });
  });

  it("is decided in time that grows with the length only", () => {
    const long = `/${"a".repeat(100)}${"%2e".repeat(5_000)}`;
    const started = performance.now();
    for (let round = 0; round < 100; round++) {
      slugTarget(`${long}a`);
      slugTarget(`${long}%e3&a=${"%".repeat(5_000)}`);
    }
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
