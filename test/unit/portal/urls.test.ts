// Which typed texts are taken as addresses without a scheme, and what people see of international ones.
import { describe, expect, it } from "vitest";
import { readableUrl, typedUrl } from "../../../src/portal/links/urls.ts";

/** As it is stored. */
const stored = (url: string) => new URL(url).href;

describe("an address that is shown", () => {
  it.each([
    "https://münchen.example/straße?q=grüße#größe",
    "https://例え.テスト/東京/ページ",
    "https://пример.example/путь",
    "https://مثال.example/صفحة",
    "https://한국.example/",
    "https://example.com/🎉/café",
    "https://example.com:8443/a/b?c=d",
  ])("has the letters of %s", (url) => {
    expect(readableUrl(stored(url))).toBe(url);
  });

  it("is shown without its scheme, too", () => {
    expect(readableUrl("xn--mnchen-3ya.example/abc")).toBe("münchen.example/abc");
  });

  it.each([
    // A Cyrillic a among Latin letters, and a label of look-alikes alone.
    "https://pаypal.example/",
    "https://аррӏе.example/",
    "https://ɡoogle.example/",
    "https://ραυο.example/",
    // Marks of direction, what can't be seen, spaces, and what looks like a slash or a question mark.
    "https://example.com/\u202egpj.exe",
    "https://example.com/a\u200bb",
    "https://example.com/a\u00a0b",
    "https://example.com/a\u2044b\uff1fc",
    "https://example.com/\u0301a",
    "https://example.com/%2F%20%25%3Cb%3E",
    "https://example.com/%ff%C3",
  ])("stays as it is stored where it could be taken for another: %j", (url) => {
    expect(readableUrl(stored(url))).toBe(stored(url));
  });
});

describe("an address that is typed", () => {
  it.each([
    "example.com",
    "example.com/foo",
    "www.example.com?x=1",
    "example.com:8080/x",
    "localhost:3000/x",
    "localhost",
    "host:8080/path",
    "bücher.example/ä",
    "[::1]:3000/",
    "192.0.2.1/x",
  ])("takes %s as https", (typed) => {
    expect(typedUrl(typed)).toBe(`https://${typed}`);
  });

  it.each([
    "https://example.com/",
    "HTTP://example.com/",
    "ftp://example.com/",
    "javascript:alert(1)",
    "javascript:1",
    "mailto:me@example.com",
    "me@example.com",
    "tel:911",
    "data:text/html,x",
    "hello",
    "/foo",
    "",
  ])("leaves %s to be judged as it is", (typed) => {
    expect(typedUrl(typed)).toBe(typed);
  });

  it("takes an address that begins with two slashes as https", () => {
    expect(typedUrl("//example.com/x")).toBe("https://example.com/x");
  });

  it("needs no longer for a long text", () => {
    const started = performance.now();
    for (const typed of ["a.".repeat(50_000), "a".repeat(100_000), ":1".repeat(50_000)])
      typedUrl(`${typed}@`);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
