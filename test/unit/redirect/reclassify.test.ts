// Recorded clicks under the present rules: what is read again, what stays, and how rules are told apart.
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { PRESENT_RULES, rulesText } from "../../../src/classification/classify.ts";
import { classifiedNow, reclassified } from "../../../src/classification/reclassify.ts";
import { linkClicked, stored } from "../../support/event-store/stored-events.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const RULES = rulesText(PRESENT_RULES);
const OURS = "clicks-0123456789-20260301";
const IMPORTED = "clicks-import0123-20260301";

type Fields = Parameters<typeof linkClicked>[0];
const now = (fields: Fields, stream = OURS) => classifiedNow({ data: linkClicked(fields).data, stream });

describe("rules", () => {
  it("are told apart by our version and those of the libraries", () => {
    const require = createRequire(import.meta.url);
    const [{ version: isbot }, { version: parser }] = [
      require("isbot/package.json"),
      require("ua-parser-js/package.json"),
    ];
    expect(RULES).toBe(`rules 2, isbot@${isbot}, ua-parser-js@${parser}`);
    const texts = [{}, { rules: 3 }, { botList: "isbot@1.0.0" }, { agentParser: "ua-parser-js@2.0.0" }].map(
      (other) => rulesText({ ...PRESENT_RULES, ...other }),
    );
    expect(new Set(texts).size).toBe(4);
    expect(rulesText(linkClicked().data)).toBe("rules 1, isbot unknown, ua-parser-js unknown");
  });
});

describe("a recorded click", () => {
  it("gets another kind, device, browser and site by the facts in its event", () => {
    expect(now({ userAgent: "curl/8.0" })).toMatchObject({ kind: "preview", device: "bot" });
    const wrong = { kind: "preview", device: "bot", referrerHost: "elsewhere" } as const;
    expect(now({ ...wrong, userAgent: FIREFOX, referrer: "https://www.example.org/a" })).toEqual({
      ...{ kind: "click", device: "desktop", referrerHost: "example.org" },
      browser: { name: "Firefox", version: "128.0" },
      os: { name: "Linux", version: "" },
    });
    expect(now({ userAgent: FIREFOX, method: "HEAD" }).kind).toBe("preview");
    expect(now({ userAgent: FIREFOX, prefetch: "prefetch" }).kind).toBe("preview");
  });

  it("stays a scan, as nothing else in the event says so", () => {
    expect(now({ kind: "qr_scan", userAgent: "curl/8.0" })).toMatchObject({ kind: "qr_scan", device: "bot" });
  });

  it("keeps the site when it has no URL", () => {
    expect(now({ referrer: "", referrerHost: "unknown" }).referrerHost).toBe("unknown");
  });

  it("keeps what another service knew of it", () => {
    const known = { userAgent: "", device: "mobile", browser: { name: "Opera", version: "" } } as const;
    expect(now(known, IMPORTED)).toMatchObject({
      ...{ kind: "click", device: "mobile" },
      browser: known.browser,
    });
    expect(now({ kind: "preview", userAgent: FIREFOX }, IMPORTED)).toMatchObject({
      ...{ kind: "preview", device: "desktop" },
    });
    expect(now({ userAgent: "curl/8.0" }, IMPORTED)).toMatchObject({ kind: "preview", device: "bot" });
  });

  it("is the same event when it was recorded under the build's rules, and names the present ones otherwise", () => {
    const same = stored(1, linkClicked({ ...PRESENT_RULES, userAgent: "curl/8.0" }), OURS);
    expect(reclassified(same, RULES)).toBe(same);
    const other = stored(2, linkClicked({ userAgent: "curl/8.0" }), OURS);
    expect(reclassified(other, RULES)).toMatchObject({
      ...{ id: other.id, position: other.position },
      data: { ...PRESENT_RULES, kind: "preview", at: expect.any(String) },
    });
    expect(other.data).toMatchObject({ kind: "click", rules: 1 });
  });
});
