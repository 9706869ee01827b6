// Body and signature of a delivery (interface, part 6).
import { createPublicKey, verify } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { publicKeyOf, type SigningSecrets } from "../../../src/commands/webhooks/signing-key.ts";
import { signatureHeaders } from "../../../src/webhooks/delivery/sign.ts";
import { clickPayload } from "../../../src/webhooks/routing/click-payload.ts";
import { samplePayload } from "../../../src/webhooks/routing/sample-payload.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { signingSecret } from "../../support/webhooks/signing-secret.ts";

const KEY = "whk_abcdefghijklmnopqrstuvwxyz012345";
const OLD_KEY = "whk_543210zyxwvutsrqponmlkjihgfedcba";

const [SECRETS, OLD_SECRETS] = [KEY, OLD_KEY].map((key) => ({
  key,
  seed: [...key.slice(4)].reverse().join(""),
})) as [SigningSecrets, SigningSecrets];

const BASE_URL = "https://sho.rt";
const { data: click } = linkClicked({
  at: "2026-03-04T05:06:07.890Z",
  link: "go.example/abc2345",
  longUrl: "https://example.com/ö?a=1&b=“2”",
  ip: "198.51.100.0",
  userAgent: "Mozilla/5.0 (iPhone)",
  referrer: "https://news.example/today",
  country: "DE",
  city: "Köln",
  device: "mobile",
  browser: { name: "Mobile Safari", version: "18.1" },
  os: { name: "iOS", version: "18.1" },
});

describe("the body of a link.clicked delivery", () => {
  it("has exactly the fields of the interface, each a string", () => {
    expect(JSON.parse(clickPayload(click, BASE_URL))).toStrictEqual({
      event: "link.clicked",
      timestamp: "2026-03-04T05:06:07.890Z",
      data: {
        link_id: "abc2345",
        short_url: "https://go.example/abc2345",
        long_url: "https://example.com/ö?a=1&b=“2”",
        click_data: {
          ip: "198.51.100.0",
          user_agent: "Mozilla/5.0 (iPhone)",
          referer: "https://news.example/today",
          country: "DE",
          city: "Köln",
          device_type: "mobile",
          browser: "Mobile Safari",
          os: "iOS",
        },
      },
    });
  });

  it("has an empty string for missing values and `unknown` for unrecognised ones", () => {
    const absent = { userAgent: undefined, referrer: undefined, country: undefined, city: undefined };
    const { data } = linkClicked({
      ...click,
      ...absent,
      device: "unknown",
      browser: undefined,
      os: undefined,
    });
    const body = clickPayload(data, BASE_URL);
    expect(JSON.parse(body).data.click_data).toStrictEqual({
      ip: "198.51.100.0",
      user_agent: "",
      referer: "",
      country: "unknown",
      city: "unknown",
      device_type: "unknown",
      browser: "unknown",
      os: "unknown",
    });
  });

  it("has the address of the default domain with its port, and that of another domain by its name", () => {
    const shortUrl = (link: string, baseUrl: string) =>
      JSON.parse(clickPayload({ ...click, link }, baseUrl)).data.short_url;
    expect(shortUrl("localhost/abc", "http://localhost:3000")).toBe("http://localhost:3000/abc");
    expect(shortUrl("go.example/abc", "http://localhost:3000")).toBe("https://go.example/abc");
  });

  it("has the same shape in the test tool's sample", () => {
    const sample = JSON.parse(samplePayload("link.clicked", "https://go.example", Date.parse(click.at)));
    const real = JSON.parse(clickPayload(click, BASE_URL));
    expect(sample).toMatchObject({ event: "link.clicked", timestamp: click.at });
    expect(Object.keys(sample.data)).toStrictEqual(Object.keys(real.data));
    expect(Object.keys(sample.data.click_data)).toStrictEqual(Object.keys(real.data.click_data));
  });
});

/** As docs/webhooks.md shows it. */
function isSigned(publicKey: string, headers: Record<string, string>, text: string): boolean {
  const x = Buffer.from(publicKey.slice("whpk_".length), "base64").toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const signed = Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`);
  return String(headers["webhook-signature"])
    .split(" ")
    .filter((entry) => entry.startsWith("v1a,"))
    .some((entry) => verify(null, signed, key, Buffer.from(entry.slice("v1a,".length), "base64")));
}

describe("the signature of a delivery", () => {
  const body = clickPayload(click, BASE_URL);
  const now = Date.now();

  it("is accepted by the standardwebhooks library, given the signing secret or the key's own bytes", () => {
    const headers = signatureHeaders([SECRETS], "0190-id", now, body);
    expect(new Webhook(signingSecret(KEY)).verify(body, headers)).toMatchObject({
      event: "link.clicked",
    });
    expect(new Webhook(KEY, { format: "raw" }).verify(body, headers)).toMatchObject({ data: {} });
  });

  it("is accepted with the new and with the previous key while the key is being rotated", () => {
    const headers = signatureHeaders([SECRETS, OLD_SECRETS], "0190-id", now, body);
    for (const key of [KEY, OLD_KEY])
      expect(() => new Webhook(signingSecret(key)).verify(body, headers)).not.toThrow();
    expect(headers["webhook-signature"]).toMatch(
      /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}= v1a,[A-Za-z0-9+/]{86}== v1a,[A-Za-z0-9+/]{86}==$/,
    );
  });

  it("is verified by the public key alone, as Standard Webhooks writes it, and by no other", () => {
    const headers = signatureHeaders([SECRETS, OLD_SECRETS], "0190-id", now, body);
    for (const { seed } of [SECRETS, OLD_SECRETS])
      expect(isSigned(publicKeyOf(seed), headers, body)).toBe(true);
    expect(publicKeyOf(SECRETS.seed)).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    expect(isSigned(publicKeyOf("z".repeat(32)), headers, body)).toBe(false);
    expect(isSigned(publicKeyOf(SECRETS.seed), headers, `${body} `)).toBe(false);
    expect(isSigned(publicKeyOf(SECRETS.seed), { ...headers, "webhook-id": "other" }, body)).toBe(false);
  });

  it("has the public key of the test vectors of RFC 8032", () => {
    const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex");
    const known = Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex");
    expect(publicKeyOf(seed.toString("latin1"))).toBe(`whpk_${known.toString("base64")}`);
  });

  it("is refused with another key, for another body, another id and another time", () => {
    const headers = signatureHeaders([SECRETS], "0190-id", now, body);
    const verified = (key: string, payload: string, changed: object) =>
      new Webhook(signingSecret(key)).verify(payload, { ...headers, ...changed });
    expect(() => verified(OLD_KEY, body, {})).toThrow("No matching signature");
    expect(() => verified(KEY, `${body} `, {})).toThrow("No matching signature");
    expect(() => verified(KEY, body, { "webhook-id": "other" })).toThrow("No matching signature");
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    expect(() => verified(KEY, body, { "webhook-timestamp": later })).toThrow("No matching signature");
  });
});
