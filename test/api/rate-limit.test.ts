// The hourly rate limit over real HTTP, with a test clock (interface, parts 5 and 8).
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keyTexts } from "../../src/projections/definitions/keys.ts";
import { StoreUnavailable } from "../../src/stores/connections/errors.ts";
import type { Answer } from "../support/service/ask.ts";
import { onCluster, startTestService, type TestService } from "../support/service/start-service.ts";

const HOUR_MS = 3_600_000;
const url = "https://example.com/";

function window({ headers }: Answer<unknown>) {
  const number = (name: string) => Number(headers[`x-ratelimit-${name}`] ?? Number.NaN);
  return { limit: number("limit"), remaining: number("remaining"), reset: number("reset") };
}

describe("part 8, rate limits", () => {
  let service: TestService;
  /** Tests share the clock; each uses its own accounts and addresses. */
  let now = Date.parse("2026-03-01T12:00:00.500Z");
  /** Number of key lookups. */
  let lookUps = 0;

  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: "127.0.0.1" }, () => new Date(now));
    const { readStore } = service.backend;
    const { get } = readStore;
    readStore.get = (collection, id) => {
      if (collection === keyTexts.collection.name) lookUps += 1;
      return get.call(readStore, collection, id) as never;
    };
  });
  afterAll(() => service.stop());

  it.each([
    ["free", 50],
    ["developer", 500],
  ] as const)(
    "lets a %s key ask %i times an hour, then answers 429 until the window ends",
    async (tier, limit) => {
      const { key } = await service.member(tier);
      const resetAt = Math.ceil((now + HOUR_MS) / 1000);
      for (let used = 1; used <= limit; used++) {
        const answer = await service.ask("/api/v1/links?limit=1", { key });
        expect([answer.status, window(answer)]).toEqual([
          200,
          { limit, remaining: limit - used, reset: resetAt },
        ]);
      }
      now += HOUR_MS / 2;
      const refused = await service.ask("/api/v1/links", { key });
      expect([refused.status, refused.body.code, refused.headers["retry-after"]]).toEqual([
        429,
        "rate_limit_exceeded",
        "1800",
      ]);
      expect(window(refused)).toEqual({ limit, remaining: 0, reset: resetAt });
      expect(refused.headers).toMatchObject({
        "ratelimit-policy": `"hour";q=${limit};w=3600`,
        ratelimit: '"hour";r=0;t=1800',
      });
      now += HOUR_MS / 2;
      const fresh = await service.ask("/api/v1/links", { key });
      expect([fresh.status, window(fresh).remaining]).toEqual([200, limit - 1]);
    },
  );

  it("counts each key by itself", async () => {
    const { key, accountId } = await service.member("free");
    const other = (await service.issueKey(accountId)).key;
    await service.ask("/api/v1/links", { key });
    expect(window(await service.ask("/api/v1/links", { key: other })).remaining).toBe(49);
  });

  it("shows the three headers on every /api answer, whatever its status", async () => {
    const { key } = await service.member("developer");
    const free = (await service.member("free")).key;
    const theirs = await service.post<{ slug: string }>("/api/v1/shorten", free, { url });
    const answers = [
      theirs,
      await service.post("/api/v1/shorten", key, "{"),
      await service.ask("/api/v1/links"),
      await service.post("/api/v1/shorten/bulk", free, { links: [{ url }] }),
      await service.ask(`/api/v1/analytics/${theirs.body.slug}`, { key }),
      await service.ask("/api/v1/analytics/nothing", { key }),
      await service.ask("/api/qr/nothing"),
      await service.ask(`/api/qr/${theirs.body.slug}`),
      await service.ask("/api/v1/unknown", { key }),
      await service.ask("/api/unknown"),
      await service.ask("/api/v1/links/%zz", { key }),
      await service.ask("/api/v1/shorten", { key, method: "DELETE" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      201, 400, 401, 402, 403, 404, 404, 200, 404, 404, 400, 405,
    ]);
    for (const answer of answers) {
      const { limit, remaining, reset } = window(answer);
      expect([50, 500, 1_000]).toContain(limit);
      expect(remaining).toBeGreaterThanOrEqual(0);
      expect(reset).toBeGreaterThan(now / 1000);
    }
  });

  it.skipIf(onCluster())("shows the address's window while the key's caller can't be looked up", async () => {
    const { key } = await service.member("free");
    expect((await service.ask("/api/v1/links", { key })).status).toBe(200);
    const { readStore } = service.backend;
    const { find, get } = readStore;
    const failing = async () => Promise.reject(new StoreUnavailable("read.db: disk gone"));
    Object.assign(readStore, { find: failing, get: failing });
    const known = await service
      .ask("/api/v1/links", { key })
      .finally(() => Object.assign(readStore, { find, get }));
    expect([known.status, known.headers["retry-after"]]).toEqual([503, "2"]);
    expect(window(known).limit).toBe(500);
    expect(window(known).remaining).toBeGreaterThanOrEqual(0);
    expect(window(known).reset).toBeGreaterThan(now / 1000);
  });

  it("counts requests without a valid key by address, 500 an hour", async () => {
    const from = (address: string) =>
      service.ask("/api/v1/links", { headers: { "x-forwarded-for": address } });
    for (let used = 0; used < 500; used++) await from("203.0.113.7");
    expect((await from("203.0.113.7")).status).toBe(429);
    expect((await from("203.0.113.8")).status).toBe(401);
    const { key } = await service.member("free");
    expect(
      (await service.ask("/api/v1/links", { key, headers: { "x-forwarded-for": "203.0.113.7" } })).status,
    ).toBe(200);
  });

  describe.skipIf(onCluster())("when somebody tries keys", () => {
    const tryKey = (key: string, address: string) =>
      service.ask("/api/v1/links", { key, headers: { "x-forwarded-for": address } });
    const madeUp = () => `ll_${crypto.randomUUID().replaceAll("-", "")}`;
    const statuses = async (count: number, address: string, key = madeUp) => {
      const answers = await Promise.all(Array.from({ length: count }, () => tryKey(key(), address)));
      return [...new Set(answers.map(({ status }) => status))];
    };

    it("looks no made-up key up beyond the address's limit", async () => {
      expect(await statuses(500, "203.0.113.50")).toEqual([401]);
      lookUps = 0;
      expect(await statuses(50, "203.0.113.50")).toEqual([429]);
      expect(lookUps).toBe(0);
      const refused = await tryKey(madeUp(), "203.0.113.50");
      expect([window(refused).limit, window(refused).remaining]).toEqual([500, 0]);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    });

    it("counts each request with one refused key once", async () => {
      const key = madeUp();
      const answers = [await tryKey(key, "203.0.113.56"), await tryKey(key, "203.0.113.56")];
      expect(answers.map((answer) => window(answer).remaining)).toEqual([499, 498]);
    });

    it("goes on serving keys used before from that address, and refuses them once they are deactivated", async () => {
      const { key, keyId, accountId } = await service.member("free");
      expect((await tryKey(key, "203.0.113.99")).status).toBe(200);
      expect(await statuses(500, "203.0.113.51")).toEqual([401]);
      expect((await tryKey(key, "203.0.113.51")).status).toBe(200);
      await service.deactivateKey(accountId, keyId);
      await expect.poll(async () => (await tryKey(key, "203.0.113.51")).status).toBe(429);
      expect((await tryKey(key, "203.0.113.52")).status).toBe(401);
    });

    it("lets any number of valid keys in from an address whose last look-up is left", async () => {
      const { accountId } = await service.member("developer");
      expect(await statuses(499, "203.0.113.57")).toEqual([401]);
      for (let n = 0; n < 3; n++) {
        const { key } = await service.issueKey(accountId);
        expect((await tryKey(key, "203.0.113.57")).status).toBe(200);
      }
      expect(await statuses(1, "203.0.113.57")).toEqual([401]);
      const { error } = (await tryKey(madeUp(), "203.0.113.57")).body as { error?: string };
      expect(error).toContain("500 API keys tried from this address that are not known yet per hour");
    });

    it("accepts a new key from an address where a program keeps sending an old one, beyond the limit too", async () => {
      const { key, keyId, accountId } = await service.member("free");
      await service.deactivateKey(accountId, keyId);
      await expect.poll(async () => (await tryKey(key, "203.0.113.53")).status).toBe(401);
      await statuses(500, "203.0.113.53", () => key);
      lookUps = 0;
      expect(await statuses(20, "203.0.113.53", () => key)).toEqual([429]);
      expect(lookUps).toBe(0);
      const fresh = await service.issueKey(accountId);
      expect((await tryKey(fresh.key, "203.0.113.53")).status).toBe(200);
    });
  });

  it("does not count redirects and QR images against a key, nor QR images as requests of their address", async () => {
    const { key } = await service.member("free");
    const headers = { "x-forwarded-for": "203.0.113.90" };
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, { url });
    await service.ask("/api/v1/links", { headers });
    for (let n = 0; n < 3; n++) {
      await service.ask(`/${body.slug}`, { headers });
      await service.ask(`/api/qr/${body.slug}`, { headers });
    }
    expect(window(await service.ask("/api/v1/links", { key })).remaining).toBe(48);
    expect(window(await service.ask("/api/v1/links", { headers })).remaining).toBe(498);
  });

  it("lets an address have 1,000 QR images an hour, and its keys go on beyond that", async () => {
    const { key } = await service.member("free");
    const headers = { "x-forwarded-for": "203.0.113.91" };
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, { url });
    const ask = () => service.ask(`/api/qr/${body.slug}?size=256`, { headers, key });
    const first = await ask();
    expect([first.status, window(first)]).toEqual([
      200,
      { limit: 1_000, remaining: 999, reset: Math.ceil((now + HOUR_MS) / 1000) },
    ]);
    for (let sent = 1; sent < 1_000; sent += 27)
      await Promise.all(Array.from({ length: Math.min(27, 1_000 - sent) }, ask));
    const refused = await ask();
    expect([refused.status, refused.body.code, refused.headers["retry-after"]]).toEqual([
      429,
      "rate_limit_exceeded",
      "3600",
    ]);
    expect(window(refused).remaining).toBe(0);
    expect((await service.ask("/api/v1/links", { headers })).status).toBe(401);
    expect((await service.ask("/api/v1/links", { headers, key })).status).toBe(200);
    const elsewhere = { "x-forwarded-for": "203.0.113.92" };
    expect((await service.ask(`/api/qr/${body.slug}`, { headers: elsewhere })).status).toBe(200);
  });

  it("applies a change of tier to the current window", async () => {
    const { key, accountId } = await service.member("free");
    await service.ask("/api/v1/links", { key });
    await service.changeTier(accountId, "developer");
    await expect.poll(async () => window(await service.ask("/api/v1/links", { key })).limit).toBe(500);
  });
});
