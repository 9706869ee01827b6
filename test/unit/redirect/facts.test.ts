// The small readings of a hit: addresses, referrers, campaigns, languages, places, visitors.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { referrerOf } from "../../../src/events/classification/referrer.ts";
import { referrerHostOf } from "../../../src/events/click-facts.ts";
import { utmOf } from "../../../src/redirect/clicks/click-event.ts";
import { anonymiseIp } from "../../../src/redirect/clicks/enrich/anonymise-ip.ts";
import { geoOf, packagedGeo, placeOf } from "../../../src/redirect/clicks/enrich/geo.ts";
import { primaryLanguage } from "../../../src/redirect/clicks/enrich/language.ts";
import { visitorCodes } from "../../../src/redirect/clicks/visitors/visitor.ts";
import { hostResolver } from "../../../src/redirect/http/hosts.ts";

describe("an anonymised address", () => {
  it.each([
    ["203.0.113.77", "203.0.113.0"],
    ["::ffff:203.0.113.77", "203.0.113.0"],
    ["::ffff:cb00:714d", "203.0.113.0"],
    ["0:0:0:0:0:ffff:203.0.113.77", "203.0.113.0"],
    ["2001:db8:abcd:12::1", "2001:db8:abcd::"],
    ["2001:0db8:00cd:0012:0:0:0:1", "2001:db8:cd::"],
    ["[2001:db8:abcd:12::1]", "2001:db8:abcd::"],
    ["fe80::1%eth0", "fe80::"],
    ["2001:db8::1", "2001:db8::"],
    ["::1", "::"],
    ["64:ff9b::192.0.2.33", "64:ff9b::"],
    ["2002:cb00:714d:12::1", "2002:cb00:7100::"],
    ["2002:cb00:4d::1", "2002:cb00::"],
    ["", ""],
    ["unknown", ""],
    ["1.2.3", ""],
    ["1.2.3.4.5", ""],
  ])("of %s is %j", (address, network) => {
    expect(anonymiseIp(address)).toBe(network);
  });
});

describe("a referrer", () => {
  it.each([
    ["https://www.News.example.org/a/b?token=1#x", "https://www.news.example.org/a/b", "news.example.org"],
    ["http://user:secret@example.org:8080/", "http://example.org:8080/", "example.org"],
    ["android-app://com.google.android.gm/", "android-app://com.google.android.gm/", "com.google.android.gm"],
    ["", "", "direct"],
    ["about:blank", "", "direct"],
    ["javascript:alert(1)", "", "direct"],
    ["not a url", "", "direct"],
    ["file:///etc/passwd", "", "direct"],
    ["https://[2001:db8::1]:8443/a", "https://[2001:db8::1]:8443/a", "[2001:db8::1]"],
    ["https://www./", "https://www./", "www"],
    ["https://www../", "https://www../", "www."],
    ["https://./", "", "direct"],
  ])("of %j is %j, counted as %s", (header, referrer, referrerHost) => {
    const found = referrerOf(header);
    expect([found, referrerHostOf(found === "" ? undefined : found)]).toEqual([referrer, referrerHost]);
  });

  it("of an import that doesn't say is counted as unknown", () => {
    expect(referrerHostOf("unknown")).toBe("unknown");
  });

  it("keeps at most 512 characters", () => {
    expect(referrerOf(`https://example.org/${"a".repeat(2000)}`)).toHaveLength(512);
  });
});

describe("utm fields", () => {
  it("are read by exact name, trimmed and capped; empty ones are absent", () => {
    expect(
      utmOf(`utm_source=+news+&utm_medium=&xutm_term=1&utm_Campaign=c&utm_content=${"x".repeat(200)}`),
    ).toEqual({
      source: "news",
      content: "x".repeat(128),
    });
  });
});

describe("the primary language", () => {
  it.each([
    ["en-GB,en;q=0.9", "en-gb"],
    ["fr;q=0.3, de;q=0.8", "de"],
    ["*", ""],
    ["", ""],
    ["<script>", ""],
    ["en;q=x", ""],
  ])("of %j is %j", (header, language) => {
    expect(primaryLanguage(header)).toBe(language);
  });
});

describe("the host of a request", () => {
  it("is the base host under every loopback name where the base host is one", () => {
    const hostOf = hostResolver("localhost");
    for (const header of ["localhost:3000", "127.0.0.1:3000", "127.8.9.1", "[::1]:3000", "app.localhost"])
      expect(hostOf(header)).toBe("localhost");
    expect(hostOf("127.0.0.1.example.org")).toBe("127.0.0.1.example.org");
    expect(hostResolver("go.example.com")("localhost")).toBe("localhost");
  });
});

describe("a place", () => {
  it("is read from DB-IP lite's and from GeoLite2's schema", () => {
    expect(placeOf({ country_code: "gb", state1: "England", city: "London" })).toEqual({
      country: "GB",
      region: "England",
      city: "London",
    });
    const nested = {
      country: { iso_code: "DE" },
      subdivisions: [{ names: { en: "Hesse" } }],
      city: { names: { en: "Frankfurt", de: "Frankfurt am Main" } },
    };
    expect(placeOf(nested)).toEqual({ country: "DE", region: "Hesse", city: "Frankfurt" });
  });

  it("is unknown without a database, for garbage and for private addresses", () => {
    const unknown = { country: "unknown", region: "unknown", city: "unknown" };
    expect(geoOf(undefined, undefined).locate("8.8.8.8")).toEqual(unknown);
    expect(placeOf({ country_code: 7, city: {} })).toEqual(unknown);
    // By which databases name reserved addresses.
    expect(placeOf({ country_code: "ZZ" })).toEqual(unknown);
  });

  it("comes out of the box for both families", async () => {
    const geo = packagedGeo();
    expect(geo.locate("81.2.69.142").country).toBe("GB");
    expect(geo.locate("::ffff:81.2.69.142").country).toBe("GB");
    expect(geo.locate("2001:4860:4860::8888").country).toMatch(/^[A-Z]{2}$/);
    expect(geo.locate("127.0.0.1").country).toBe("unknown");
  });
});

describe("a visitor code", () => {
  it("is the start of SHA-256 over address and what is visited, under a key from the day's salt and user agent", () => {
    const salt = Buffer.from("0123456789abcdef0123456789abcdef");
    const visit = { address: "203.0.113.7", userAgent: "Ü/1.0", of: "localhost/abc" };
    const key = createHash("sha256")
      .update(`${salt.toString("base64")}Ü/1.0`)
      .digest("base64");
    const whole = createHash("sha256").update(`${key}203.0.113.7\nlocalhost/abc`).digest("hex");
    expect(visitorCodes(salt)(visit)).toBe(whole.slice(0, 16));
    expect(visitorCodes(salt)({ ...visit, of: "localhost/abd" })).not.toBe(whole.slice(0, 16));
    expect(visitorCodes(Buffer.alloc(32))(visit)).not.toBe(whole.slice(0, 16));
  });
});
