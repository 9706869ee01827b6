// What people see of international addresses: their own letters, and never another address than the real one.
import { describe, expect, it } from "vitest";
import { readableUrl } from "../../../src/portal/links/urls.ts";

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
