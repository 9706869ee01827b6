// Building blocks of portal pages: escaping markup, paths within the portal, password rules.
import { describe, expect, it } from "vitest";
import { acceptPassword } from "../../../src/commands/people/password.ts";
import { type HtmlValue, html, htmlText } from "../../../src/portal/shell/html.ts";
import { pathWithin } from "../../../src/portal/shell/visit.ts";

describe("markup", () => {
  it("escapes text wherever it stands, once", () => {
    const given = `<b a='1' b="2">&</b>`;
    const text = htmlText(html`<p title="${given}">${given}</p>`);
    expect(text.replace(/^<p title="|<\/p>$/g, "")).not.toMatch(/[<'](?!\/)|"[^>]/);
    expect(htmlText(html`<p>${html`<i>${"&"}</i>`}</p>`)).toBe("<p><i>&#38;</i></p>");
  });

  it("joins lists, and shows nothing for false, null and undefined, but 0", () => {
    expect(htmlText(html`${[html`<i></i>`, "<", 0, false, null, undefined]}`)).toBe("<i></i>&#60;0");
  });

  it("takes nothing for finished markup that came as JSON, nor a mark before a value", () => {
    const forged = JSON.parse('{"markup":"<script>"}') as HtmlValue;
    expect(() => htmlText(html`${forged}`)).toThrow(TypeError);
    expect(htmlText(html`!${"<script>"}`)).toBe("!&#60;script&#62;");
  });
});

describe("where a form may lead", () => {
  it.each(["/portal", "/portal/links?q=a&status=live", "/portal/sign-in?next=%2Fportal"])(
    "keeps %s",
    (path) => {
      expect(pathWithin("/portal", path)).toBe(path);
    },
  );

  it.each([
    undefined,
    "",
    "portal",
    "/",
    "/docs",
    "/portal-news",
    "//portal",
    "/\\portal",
    "/portal\\..",
    "/portal/../docs",
    "/portal\n",
    "https://evil.example/",
    "//evil.example/",
    "\\\\evil.example",
    "/portal//../..//evil.example",
    "/%09/evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "/portal/../%2f%2fevil.example",
    "https:evil.example",
    "@evil.example",
    "/portal@evil.example/x\r\nSet-Cookie: a=b",
    "http://localhost.evil.example/portal",
  ])("falls back from %j", (path) => {
    expect(pathWithin("/portal", path)).toBe("/portal");
  });
});

describe("a password", () => {
  const about = { email: "somebody-long@example.com" };

  it.each(["seven brown foxes", "a b c   d e f", "пароль для входа", "1234567890a!"])(
    "may be %j",
    (password) => {
      expect(acceptPassword(password, about)).toBe(password.normalize("NFKC"));
    },
  );

  it.each([
    "ninechars",
    "😀😀😀😀😀😀😀😀😀",
    "Password123",
    "1234567890",
    "0987654321",
    "klmnopqrstuv",
    "aaaaaaaaaaaa",
    "abababababab",
    "Somebody-Long",
    "SOMEBODY-LONG@example.com",
    "x".repeat(513),
  ])("may not be %s", (password) => {
    expect(() => acceptPassword(password, about)).toThrow(/characters|first that anyone/);
  });
});
