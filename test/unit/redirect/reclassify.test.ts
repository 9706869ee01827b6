// Recorded clicks under the present rules: what is read again, what stays, and how rules are told apart.
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { PRESENT_RULES } from "../../../src/classification/classify.ts";
import { classifiedNow, reclassified } from "../../../src/classification/reclassify.ts";
import { linkClicked, stored } from "../../support/event-store/stored-events.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
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
    expect(PRESENT_RULES).toBe(`2, isbot@${isbot}, ua-parser-js@${parser}`);
  });
});

describe("a recorded click", () => {
  it("gets another kind, device, browser and system by the facts in its event", () => {
    expect(now({ userAgent: "curl/8.0" })).toMatchObject({ kind: "preview", device: "bot" });
    const wrong = { kind: "preview", device: "bot", browser: undefined, os: { name: "Windows" } } as const;
    expect(now({ ...wrong, userAgent: FIREFOX })).toEqual({
      ...{ kind: "click", device: "desktop" },
      browser: { name: "Firefox", version: "128.0" },
      os: { name: "Linux" },
    });
    expect(now({ userAgent: FIREFOX, method: "HEAD" }).kind).toBe("preview");
    expect(now({ userAgent: FIREFOX, prefetch: "prefetch" }).kind).toBe("preview");
  });

  it("stays a scan, as nothing else in the event says so", () => {
    expect(now({ kind: "qr_scan", userAgent: "curl/8.0" })).toMatchObject({ kind: "qr_scan", device: "bot" });
  });

  it("keeps what another service knew of it", () => {
    const known = { userAgent: undefined, device: "mobile", browser: { name: "Opera" } } as const;
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
    const same = stored(1, linkClicked({ rules: PRESENT_RULES, userAgent: "curl/8.0" }), OURS);
    expect(reclassified(same, PRESENT_RULES)).toBe(same);
    const other = stored(2, linkClicked({ userAgent: "curl/8.0" }), OURS);
    const { browser: _, os: _os, ...facts } = linkClicked({ userAgent: "curl/8.0" }).data;
    expect(reclassified(other, PRESENT_RULES)).toStrictEqual({
      ...other,
      data: { ...facts, rules: PRESENT_RULES, kind: "preview", device: "bot" },
    });
    expect(other.data).toMatchObject({ kind: "click", browser: { name: "Firefox" }, os: { name: "Linux" } });
  });
});
