// Analytics, the list of links and QR images over real HTTP (interface, parts 2 and 4).
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Ask } from "../support/service/ask.ts";
import {
  BASE_URL,
  type Member,
  startTestService,
  type TestService,
} from "../support/service/start-service.ts";

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
/** A key may ask 500 times an hour. */
const SELDOM = { interval: 200 };
type Link = { slug: string; short_url: string; long_url: string; created_at: string; domain_id?: string };
type Counts = Record<string, number>;
type Analytics = {
  link: { id: string; long_url: string; created_at: string };
  analytics: Record<"eventTypes" | "devices" | "countries" | "referrers" | "hourlyClicks", Counts> & {
    totalClicks: number;
    actualClicks: number;
    previews: number;
    qrScans: number;
    utm: Record<string, Counts>;
    recentClicks: Record<string, unknown>[];
  };
};

describe("part 4, reading", () => {
  let service: TestService;
  let developer: Member;
  let domainId: string;
  const shorten = async (key: string, more: object = {}) =>
    (
      await service.post<Link>("/api/v1/shorten", key, {
        url: "https://example.com/read?utm_source=mail",
        ...more,
      })
    ).body;
  const analytics = (key: string, slug: string) =>
    service.ask<Analytics>(`/api/v1/analytics/${slug}`, { key });
  const totalClicks = (key: string, slug: string) => async () =>
    (await analytics(key, slug)).body.analytics.totalClicks;

  /** One hit per millisecond, because two nodes can't order hits of the same millisecond. */
  const visit = async (path: string, options: Ask) => {
    await service.ask(path, options);
    for (const at = Date.now(); Date.now() === at; ) await nextTurn();
  };

  beforeAll(async () => {
    service = await startTestService();
    developer = await service.member("developer");
    domainId = await service.domain(developer.accountId, "read.example.org");
  });
  afterAll(() => service.stop());

  describe("GET /api/v1/analytics/{slug}", () => {
    it("answers 200 with zeros the moment a link is created", async () => {
      const { key } = await service.member("free");
      const link = await shorten(key);
      const { status, body } = await analytics(key, link.slug);
      expect(status).toBe(200);
      expect(body.link).toEqual({ id: link.slug, long_url: link.long_url, created_at: link.created_at });
      expect(body.analytics).toMatchObject({
        totalClicks: 0,
        actualClicks: 0,
        previews: 0,
        qrScans: 0,
        eventTypes: { click: 0, preview: 0, qr_scan: 0 },
        devices: { mobile: 0, desktop: 0, tablet: 0 },
        recentClicks: [],
      });
      expect(Object.keys(body.analytics.hourlyClicks)).toHaveLength(24);
    });

    it("counts clicks, previews and QR scans, and the details of each click", async () => {
      const { key } = await service.member("developer");
      const { slug } = await shorten(key);
      const headers = { "user-agent": PHONE, referer: "https://www.news.example/story?id=1" };
      await visit(`/${slug}`, { headers });
      await visit(`/${slug}?qr=1`, { headers });
      await visit(`/${slug}`, { method: "HEAD", headers });
      await expect.poll(totalClicks(key, slug), SELDOM).toBe(3);
      const { analytics: a } = (await analytics(key, slug)).body;
      expect(a).toMatchObject({
        actualClicks: 1,
        previews: 1,
        qrScans: 1,
        eventTypes: { click: 1, preview: 1, qr_scan: 1 },
      });
      expect(a.devices.mobile).toBe(3);
      expect(a.referrers).toEqual({ "news.example": 3 });
      expect(a.utm.source).toEqual({ mail: 3 });
      for (const counts of [a.devices, a.countries, a.referrers, a.hourlyClicks])
        expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(3);
      expect(a.recentClicks).toHaveLength(3);
      expect(a.recentClicks[0]).toMatchObject({
        type: "preview",
        device: "mobile",
        ip: "127.0.0.0",
        user_agent: PHONE,
      });
    });

    it("part 8: recentClicks holds the last 10", async () => {
      const { key } = await service.member("developer");
      const { slug } = await shorten(key);
      for (let n = 0; n < 12; n++) await visit(`/${slug}`, { headers: { "user-agent": `agent ${n}` } });
      await expect.poll(totalClicks(key, slug), SELDOM).toBe(12);
      const { recentClicks } = (await analytics(key, slug)).body.analytics;
      expect(recentClicks.map((click) => click.user_agent)).toEqual(
        Array.from({ length: 10 }, (_, index) => `agent ${11 - index}`),
      );
    });

    it("may be read with any of the account's keys, in any case of the slug", async () => {
      const { accountId, key } = await service.member("free");
      const { slug } = await shorten(key);
      const other = (await service.issueKey(accountId)).key;
      expect((await analytics(other, slug.toUpperCase())).status).toBe(200);
    });

    it("answers 403 for another user's link and 404 for none", async () => {
      const { slug } = await shorten(developer.key);
      const stranger = await service.member("free");
      const theirs = await analytics(stranger.key, slug);
      expect([theirs.status, theirs.body]).toEqual([403, expect.objectContaining({ code: "forbidden" })]);
      expect((await analytics(stranger.key, "no-such-link")).status).toBe(404);
    });

    it("reads a custom domain's link, by domain_id where the slug is on several", async () => {
      const second = await service.domain(developer.accountId, "second.example.org");
      for (const domain_id of [domainId, second])
        await shorten(developer.key, {
          domain_id,
          customSlug: "both",
          url: `https://example.com/${domain_id}`,
        });
      for (const domain_id of [domainId, second]) {
        const { body } = await analytics(developer.key, `both?domain_id=${domain_id.toUpperCase()}`);
        expect(body.link.long_url).toBe(`https://example.com/${domain_id}`);
      }
    });
  });

  describe("GET /api/v1/links", () => {
    type Page = { links: Link[]; total: number; next_cursor: string | null };
    const list = (key: string, query = "") => service.ask<Page>(`/api/v1/links${query}`, { key });

    it("lists what this key created a moment ago, newest first, and nothing of other keys", async () => {
      const { key, accountId } = await service.member("free");
      const other = (await service.issueKey(accountId)).key;
      await shorten(other);
      const made = [await shorten(key), await shorten(key), await shorten(key)];
      const { status, body } = await list(key);
      expect(status).toBe(200);
      const own = { status: "live", disabled: false, revision: 0 };
      const listed = made.map((link) => ({ ...link, ...own, updated_at: link.created_at })).reverse();
      expect(body).toEqual({ links: listed, total: 3, next_cursor: null });
    });

    it("pages through all links with limit and cursor", async () => {
      const { key } = await service.member("free");
      const made: string[] = [];
      for (let n = 0; n < 5; n++) made.unshift((await shorten(key)).slug);
      const seen: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page: Page = (await list(key, `?limit=2${cursor && `&cursor=${cursor}`}`)).body;
        expect(page.total).toBe(5);
        seen.push(...page.links.map(({ slug }) => slug));
        cursor = page.next_cursor;
      }
      expect(seen).toEqual(made);
    });

    it("filters by text, domain and time", async () => {
      const { key, accountId } = await service.member("developer");
      const domain_id = await service.domain(accountId, "filter.example.org");
      await shorten(key, { url: "https://example.com/apples" });
      await shorten(key, { url: "https://example.com/pears", domain_id, customSlug: "pears-here" });
      const slugs = async (query: string) => (await list(key, query)).body.total;
      expect(await slugs("?q=APPLES")).toBe(1);
      expect(await slugs("?q=pears")).toBe(1);
      expect(await slugs(`?domain_id=${domain_id}`)).toBe(1);
      expect(await slugs("?from=2999-01-01")).toBe(0);
      expect(await slugs("?to=2999-01-01T00:00:00Z&from=2020-01-01")).toBe(2);
    });

    it("takes the times that analytics takes, such as an offset as it is typed into a URL", async () => {
      const { key } = await service.member("free");
      const { created_at } = await shorten(key);
      const [before = "", after = ""] = [0, 1000].map((ms) =>
        new Date(Date.parse(created_at) + 3_600_000 + ms).toISOString().slice(0, -5),
      );
      const found = async (query: string) => (await list(key, query)).body.total;
      expect(await found(`?from=${before}+01:00&to=${after}+01:00`)).toBe(1);
      expect(await found(`?from=${after}+01:00`)).toBe(0);
      expect(await found(`?from=${created_at.slice(0, 16)}`)).toBe(1);
      expect(await found("?from=0000-01-01T00:00:00+01:00&to=9999-12-31T23:59:59-05:00")).toBe(1);
      const refused = await service.ask("/api/v1/links?from=yesterday", { key });
      expect([refused.status, refused.body]).toMatchObject([400, { error: expect.stringContaining("from") }]);
    });
  });

  describe("GET /api/qr/{slug}", () => {
    it("answers a PNG without a key, and the same headers to HEAD", async () => {
      const { slug } = await shorten(developer.key);
      const { status, headers, bytes } = await service.ask(`/api/qr/${slug}`);
      expect([status, headers["content-type"]]).toEqual([200, "image/png"]);
      expect(bytes.subarray(1, 4).toString()).toBe("PNG");
      expect(bytes.readUInt32BE(16)).toBe(512);
      const head = await service.ask(`/api/qr/${slug}`, { method: "HEAD" });
      expect([head.status, head.headers.etag, head.bytes.length]).toEqual([200, headers.etag, 0]);
    });

    it("draws in the size, colours, margin and format requested", async () => {
      const { slug } = await shorten(developer.key);
      const png = await service.ask(`/api/qr/${slug}?size=128&ecc=H&margin=2`);
      expect(png.bytes.readUInt32BE(16)).toBe(128);
      const svg = await service.ask(`/api/qr/${slug}?format=svg&dark=1a2b3c&light=%23ffffff00`);
      expect(svg.headers["content-type"]).toMatch(/^image\/svg\+xml/);
      expect(svg.text).toMatch(/^<svg.*rgb\(26,43,60\)/s);
      const unscannable = await service.ask(`/api/qr/${slug}?dark=ffee00`);
      expect([unscannable.status, unscannable.text]).toEqual([400, expect.stringContaining("contrast")]);
    });

    it("can be cached and revalidated with its ETag", async () => {
      const { slug } = await shorten(developer.key);
      const { headers } = await service.ask(`/api/qr/${slug}`);
      expect(headers["cache-control"]).toMatch(/^public, max-age=\d+$/);
      const again = await service.ask(`/api/qr/${slug}`, {
        headers: { "if-none-match": String(headers.etag) },
      });
      expect([again.status, again.bytes.length]).toEqual([304, 0]);
      // A cache would give its stored image these of the answer that confirms it (RFC 9111, 4.3.4).
      expect(again.headers).not.toHaveProperty("content-type");
      expect(again.headers).not.toHaveProperty("content-length");
      const other = await service.ask(`/api/qr/${slug}?dark=112233`, {
        headers: { "if-none-match": String(headers.etag) },
      });
      expect([other.status, other.headers.etag === headers.etag]).toEqual([200, false]);
    });

    it("is what qr_download_url of a custom domain's link leads to", async () => {
      const link = await shorten(developer.key, { domain_id: domainId, customSlug: "qr-there" });
      const { qr_download_url: address } = link as unknown as { qr_download_url: string };
      expect((await service.ask(address.slice(BASE_URL.length))).status).toBe(200);
    });

    it.each(["size=63", "size=2049", "size=x", "format=gif", "dark=red", "ecc=Z", "margin=-1"])(
      "answers 400 to %s",
      async (query) => {
        const { slug } = await shorten(developer.key);
        expect((await service.ask(`/api/qr/${slug}?${query}`)).status).toBe(400);
      },
    );

    it("answers 404 for no link", async () => {
      const { status, body } = await service.ask("/api/qr/no-such-link");
      expect([status, body.error]).toEqual([404, "Short link not found."]);
    });
  });
});
