// The cookie by which a browser has given a link's password: whatever is changed of it, it is worth nothing.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linkPasses, passCookie } from "../../src/redirect/password/link-pass.ts";
import { anyText } from "../support/runtime/any-text.ts";
import { effort } from "../support/runtime/effort.ts";

const NOW = 1_777_000_000_000;
const HOUR = 3_600_000;
const OF = { link: "localhost/abc", passwordId: "0190f6c2-7d1e-7c3a-9b1f-2f6c1d7b8e90" };
const passes = linkPasses("a key of this service");
const pass = passes.issue(OF, NOW);
const header = (value: string) => `theme=dark; linkledger-link=${value}; other=1`;
const isTaken = (value: string, of = OF, now = NOW) => passes.isIn(header(value), of, now);
const runs = { numRuns: effort(500, 10_000) };

describe("a pass for a link with a password", () => {
  it("is taken for twelve hours", () => {
    expect([0, 11 * HOUR, 12 * HOUR - 1].map((later) => isTaken(pass, OF, NOW + later))).toEqual([
      true,
      true,
      true,
    ]);
    expect(isTaken(pass, OF, NOW + 12 * HOUR)).toBe(false);
  });

  it("is taken among others of the same name, which another path or domain has left", () => {
    const others = `linkledger-link=${linkPasses("x").issue(OF, NOW)}; linkledger-link=; ${header(pass)}`;
    expect(passes.isIn(others, OF, NOW)).toBe(true);
  });

  it.each([
    ["another link", { ...OF, link: "localhost/abd" }],
    ["the same slug of another host", { ...OF, link: "go.example/abc" }],
    ["the password after this one", { ...OF, passwordId: "0190f6c2-7d1e-7c3a-9b1f-2f6c1d7b8e91" }],
    ["names that run together", { link: OF.link.slice(0, -1), passwordId: `c${OF.passwordId}` }],
  ])("is refused for %s", (_, other) => {
    expect(isTaken(pass, other)).toBe(false);
    expect(isTaken(passes.issue(other, NOW), other)).toBe(true);
  });

  it("is refused by a service with another key", () => {
    expect(linkPasses("another key").isIn(header(pass), OF, NOW)).toBe(false);
  });

  it("is refused with any of its bytes changed, left out, doubled or moved", () => {
    const changes = [...pass].flatMap((character, at) => {
      const [before, after] = [pass.slice(0, at), pass.slice(at + 1)];
      const others = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n));
      return [
        ...others.filter((one) => one !== character).map((one) => before + one + after),
        before + after,
        before + character + character + after,
        before + after + character,
      ];
    });
    const forged = changes.filter((one) => one.trim() !== pass && one.split(";")[0]?.trim() !== pass);
    expect(forged.filter((one) => isTaken(one))).toEqual([]);
    expect(forged.length).toBeGreaterThan(5_000);
  });

  it("is refused with another end, with whatever signature, and as any text", () => {
    const end = fc.nat({ max: 2 ** 31 - 1 }).map((ms) => (NOW + ms).toString(36));
    const signature = fc.constantFrom(
      pass.split(".")[1] ?? "",
      passes.issue({ ...OF, link: "" }, NOW).split(".")[1],
    );
    const forged = fc.tuple(end, signature).map((parts) => parts.join("."));
    fc.assert(
      fc.property(fc.oneof(forged, anyText(80)), (value) => {
        fc.pre(value !== pass);
        expect(isTaken(value)).toBe(false);
      }),
      runs,
    );
  });

  it("is set at the path that was used, for its host alone, out of reach of scripts", () => {
    const attributes = "HttpOnly; SameSite=Lax";
    expect(passCookie("p", "/Abc?qr=1", { isSecure: false })).toBe(
      `linkledger-link=p; Path=/Abc; ${attributes}`,
    );
    expect(passCookie("p", "/abc.", { isSecure: true })).toBe(
      `linkledger-link=p; Path=/abc.; ${attributes}; Secure`,
    );
  });

  it("has no more attributes, whatever the path is", () => {
    fc.assert(
      fc.property(anyText(40), (path) => {
        const [, ...attributes] = passCookie("p", `/${path}`, { isSecure: false }).split("; ");
        expect(attributes.filter((one) => !one.startsWith("Path=/"))).toEqual(["HttpOnly", "SameSite=Lax"]);
        expect(attributes.length).toBeLessThanOrEqual(3);
      }),
      runs,
    );
  });
});
