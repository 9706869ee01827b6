// Building blocks of portal pages: escaping markup, paths within the portal, password rules.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { acceptPassword } from "../../../src/commands/people/password.ts";
import { type Html, type HtmlValue, html, htmlText, offered } from "../../../src/portal/shell/html.ts";
import { type Cards, cards, confirmed, confirmedPost, postButton } from "../../../src/portal/shell/layout.ts";
import { pathWithin } from "../../../src/portal/shell/request-visit.ts";

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

describe("what a reader may not send", () => {
  const text = fc.string({ unit: "grapheme" });
  const form = (action: string, value: string) =>
    html`<form class="a" method="post" action="${action}"><input name="x" value="${value}"></form>`;
  const only = (allowed: string) => (action: string) => action === allowed;

  it("is left out, whatever stands in the page, and nothing else is", () => {
    fc.assert(
      fc.property(text, text, (before, value) => {
        const page = html`<p>${before}</p>${form("/a", value)}<p title="${value}">${value}</p>${form("/b", before)}`;
        const left = html`<p>${before}</p><p title="${value}">${value}</p>${form("/b", before)}`;
        expect(htmlText(page, only("/b"))).toBe(htmlText(left));
        expect(htmlText(page, () => true)).toBe(htmlText(page));
      }),
    );
  });

  it("takes its card, menu and question along, unless there is something else in them", () => {
    const one = postButton("/a", "Do it");
    const shown = (parts: Cards) => htmlText(cards(parts), only("/b")).trim();
    const fields = { name: { label: "Name" } };
    const body = html`<p>Something</p>`;
    expect(shown([{ title: "T", lead: "L", form: { action: "/a", fields, button: "Go" } }])).toBe("");
    expect(shown([{ title: "T", body, form: { action: "/a", fields, button: "Go" } }])).toMatch(
      /T.*Something/s,
    );
    expect(shown([{ title: "T", form: { action: "/b", fields, button: "Go" } }])).toContain("Go");
    expect(shown([{ title: "T", form: { action: "/a", method: "get", fields, button: "Go" } }])).toContain(
      "Go",
    );
    expect(shown([confirmedPost("Remove", "Really?", "/a", "Yes"), confirmed("?", body, one)])).toBe("");
    expect(shown([html`<details class="menu"><summary>More</summary><div>${one}</div></details>`])).toBe("");
    expect(shown([offered("/a", "yes", "no") as Html])).toBe("no");
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
