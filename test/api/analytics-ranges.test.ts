// Ranges of analytics and time travel over real HTTP, beside answers without parameters, which stay as they are.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AccountAnalyticsAnswer } from "../../src/api/analytics/account-schema.ts";
import { RangeAnalyticsSchema, type RangeAnswer } from "../../src/api/analytics/link-schema.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { until } from "../support/runtime/until.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";

describe("GET /api/v1/analytics/{slug}/range", () => {
  let service: TestService;
  let developer: Member;
  let slug: string;
  const shorten = (key: string) => service.shorten(key, { url: "https://example.com/range" });
  const ask = (query: string, key = developer.key, of = slug) =>
    service.ask<RangeAnswer & { error: string; code: string }>(`/api/v1/analytics/${of}/range?${query}`, {
      key,
    });

  beforeAll(async () => {
    service = await startTestService();
    developer = await service.member("developer");
    slug = await shorten(developer.key);
    await service.ask(`/${slug}`, { headers: { "user-agent": PHONE } });
    await service.ask(`/${slug}?qr=1`, { headers: { "user-agent": PHONE } });
    await until(
      "both hits to be counted",
      async () => (await ask("interval=day")).body.analytics.totalClicks === 2,
    );
  });
  afterAll(() => service.stop());

  it("answers series, totals, breakdowns and daily visitors in the zone that is asked for", async () => {
    const { status, body } = await ask("interval=hour&timezone=Asia/Kathmandu");
    expect(status).toBe(200);
    expect(RangeAnalyticsSchema.strict().safeParse(body).error).toBeUndefined();
    expect(body).toMatchObject({
      link: { id: slug, long_url: "https://example.com/range", status: "live" },
      range: { interval: "hour", timezone: "Asia/Kathmandu", kind: null },
      analytics: {
        totalClicks: 2,
        actualClicks: 1,
        qrScans: 1,
        devices: { desktop: 0, mobile: 2, tablet: 0 },
      },
      behind_ms: 0,
    });
    expect(body.range.from).toMatch(/T00:00:00\.000\+05:45$/);
    expect(body.analytics.series.reduce((sum, { total }) => sum + total, 0)).toBe(2);
    expect(body.analytics.dailyUniques.length).toBeGreaterThan(0);
    expect(body.analytics.dailyUniques.every(({ visitors }) => visitors === 1)).toBe(true);
    expect(body.as_of_position).toMatch(/^\d{20}(:\d{20})?$/);
  });

  it("says in which times of the range clicks were not recorded, as the console does", async () => {
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const outage = { from: at(10), until: at(5), hits: 42 };
    const long = { from: at(100_000), until: at(99_999), hits: 7 };
    for (const [revision, gap] of [long, outage].entries())
      await service.backend.eventStore.append(
        "gaps-0123456789abcdef",
        revision === 0 ? "none" : revision - 1,
        [newEvent({ type: "ClicksNotRecorded", data: { at: at(1), ...gap } }, randomUUID())],
      );
    const from = at(60);
    await until("it to be folded", async () => (await ask(`from=${from}`)).body.gaps !== undefined);
    const { body } = await ask(`from=${from}&timezone=Asia/Kathmandu`);
    expect(RangeAnalyticsSchema.strict().safeParse(body).error).toBeUndefined();
    const times = body.gaps?.map((gap) => ({
      ...gap,
      from: Date.parse(gap.from),
      until: Date.parse(gap.until),
    }));
    expect(times).toEqual([{ ...outage, from: Date.parse(outage.from), until: Date.parse(outage.until) }]);
    expect(body.gaps?.[0]?.from).toMatch(/\+05:45$/);
    const account = await service.ask<AccountAnalyticsAnswer>(`/api/v1/analytics?from=${from}`, {
      key: developer.key,
    });
    expect(account.body.gaps).toEqual([outage]);
    expect((await ask(`from=${at(4)}`)).body.gaps).toBeUndefined();
  });

  it("filters by kind, and adds up over the parts of a range", async () => {
    expect((await ask("kind=qr_scan")).body.analytics).toMatchObject({
      totalClicks: 1,
      actualClicks: 0,
      qrScans: 1,
    });
    const { range, analytics } = (await ask("interval=day")).body;
    const cut = new Date(Date.now() - 1).toISOString();
    const parts = [await ask(`from=${range.from}&to=${cut}`), await ask(`from=${cut}`)];
    expect(parts.map(({ status }) => status)).toEqual([200, 200]);
    expect(parts.reduce((sum, { body }) => sum + body.analytics.totalClicks, 0)).toBe(analytics.totalClicks);
  });

  it("shows the numbers as of an earlier position, and as of a time", async () => {
    const { as_of_position: then } = (await ask("interval=day")).body;
    const other = await shorten(developer.key);
    await service.ask(`/${slug}`, {});
    await expect.poll(async () => (await ask("interval=day")).body.analytics.totalClicks).toBe(3);
    const before = await ask(`as_of=${then}`);
    expect(before.body).toMatchObject({ as_of_position: then, analytics: { totalClicks: 2 } });
    expect(before.body.behind_ms).toBeGreaterThan(0);
    expect((await ask(`as_of=${new Date().toISOString()}`)).body.analytics.totalClicks).toBe(3);
    const unborn = await ask(`as_of=${then}`, developer.key, other);
    expect([unborn.status, unborn.body.error]).toEqual([404, "The link did not exist at as_of."]);
  });

  it("needs the Developer tier: 402 with any of its parameters on Free", async () => {
    const { key } = await service.member("free");
    const own = await shorten(key);
    for (const query of [
      "from=2026-01-01",
      "to=2026-01-01",
      "interval=day",
      "timezone=UTC",
      "kind=click",
      "as_of=1",
    ])
      expect([query, (await ask(query, key, own)).status]).toEqual([query, 402]);
    const plain = await service.ask(`/api/v1/analytics/${own}`, { key });
    expect([plain.status, Object.keys(plain.body)]).toEqual([200, ["link", "analytics"]]);
    expect(plain.headers).toMatchObject({
      "x-as-of-position": expect.stringMatching(/^\d{20}/),
      "x-behind-ms": expect.stringMatching(/^\d+$/),
    });
  });

  it("is what a parameter of ranges is sent to, instead of being ignored", async () => {
    const { status, body } = await service.ask(`/api/v1/analytics/${slug}?from=2026-01-01`, {
      key: developer.key,
    });
    expect([status, body]).toMatchObject([
      400,
      {
        code: "invalid_range",
        error: `from is a parameter of ranges: read them at /api/v1/analytics/${slug}/range`,
      },
    ]);
  });

  it("refuses bad input with 400 and a message that says what to do", async () => {
    const refused: [query: string, code: string, message: RegExp][] = [
      ["interval=year", "invalid_request", /interval/],
      ["kind=human", "invalid_request", /kind/],
      ["timezone=Mars/Olympus", "invalid_range", /IANA/],
      ["timezone=%2B00:07", "invalid_range", /IANA/],
      ["from=2026-02-30", "invalid_range", /from must be a time in ISO 8601/],
      ["to=2026-03-01T10:00%2B01:60", "invalid_range", /to must be a time/],
      ["from=2999-01-01", "invalid_range", /before now/],
      ["as_of=12", "invalid_range", /or a position/],
      ["as_of=2999-01-01", "invalid_range", /future/],
      ["from=2026-03-02&to=2026-03-01", "invalid_range", /before/],
      ["from=2000-01-01&interval=hour", "invalid_range", /5000 points/],
      ["as_of=99999999999999999999", "invalid_position", /one that it has shown/],
    ];
    for (const [query, code, message] of refused) {
      const { status, body } = await ask(query);
      expect([query, status, body.code]).toEqual([query, 400, code]);
      expect(body.error).toMatch(message);
    }
    expect((await ask("from=2026-01-01T00:00:00+01:00")).status).toBe(200);
  });
});
