// Pages for visitors can be read in any colour that an account chooses, and hold nothing but text of it.
import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { inkOn, luminance, pageStyle, plainPage } from "../../../src/redirect/http/plain-page.ts";
import { pageHeaders, passwordPage } from "../../../src/redirect/password/password-page.ts";
import { anyText } from "../../support/runtime/any-text.ts";

const colours = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, "0")}`);
const contrast = (one: string, other: string) => {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
};

it("writes on every colour in black or white with a contrast of at least 4.5 to 1", () => {
  fc.assert(fc.property(colours, (colour) => contrast(inkOn(colour), colour) >= 4.5));
  expect([inkOn("#ffff00"), inkOn("#000080")]).toEqual(["#000000", "#ffffff"]);
});

it("shows the name as text, whatever it is", () => {
  fc.assert(
    fc.property(
      fc.oneof(anyText(60), fc.constantFrom("</header><script>", '"><img src=x>', "&lt;")),
      (name) => {
        const page = plainPage("Gone", "A text.", { name });
        const [, shown = ""] = /<header>([\s\S]*?)<\/header>/.exec(page) ?? [];
        expect(shown).not.toMatch(/[<>"]/);
        expect(page.match(/<script|<img|<\/header>\s*[^<\s]/)).toBeNull();
      },
    ),
  );
});

it("has a policy that allows its own style alone, in every colour", () => {
  for (const look of [{}, { name: "Acme", colour: "#0e8f8a" }]) {
    const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(passwordPage(undefined, look)) ?? [];
    expect(style).toBe(pageStyle(look));
    expect(pageHeaders(look)["content-security-policy"]).toContain(hash("sha256", style, "base64"));
  }
});
