// Links whose answer depends on visitor and time, over real HTTP: codes, headers, clicks, analytics and exports.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { NO_RULE } from "../../src/events/vocabulary.ts";
import { linkFromStream } from "../../src/queries/links/find-link.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { until } from "../support/runtime/until.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
const DESKTOP =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
const NOON = Date.parse("2026-05-01T12:00:00Z");

const environment = { TRUST_PROXY: "127.0.0.1/32", CLIENT_COUNTRY_HEADER: "CF-IPCountry" };

let service: TestService;
let owner: Member;
let now = NOON;

beforeAll(async () => {
  service = await startTestService(environment, () => new Date(now));
  owner = await service.member("developer");
}, 60_000);
afterAll(() => service.stop());

const OWN = "https://example.com/own?utm_source=own#top";

const shorten = (fields: object) => service.shorten(owner.key, { url: OWN, ...fields });

async function visit(path: string, headers: Record<string, string> = {}, method = "GET") {
  const answer = await service.ask(`/${path}`, { method, headers });
  const { location, "cache-control": cache } = answer.headers;
  return { status: answer.status, location, cache, text: answer.text };
}

type Rule = { id: string; name?: string };
const ruleIds = async (slug: string) => {
  const { body } = await service.ask<{ rules: Rule[] }>(`/api/v1/links/${slug}`, { key: owner.key });
  return body.rules.map(({ id }) => id);
};
const clicksAre = (slug: string, count: number) =>
  until(`${count} clicks of ${slug}`, async () => (await service.clicksOf(slug)).length >= count);

describe("systems and shares of rules", () => {
  it("are those that people call so", async () => {
    for (const [os, agent] of [
      ["CrOS", "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"],
      ["OS X", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Safari/605.1.15"],
    ] as const) {
      const slug = await shorten({ rules: [{ when: { os }, url: "https://example.com/led" }] });
      expect((await visit(slug, { "user-agent": agent })).location).toBe("https://example.com/led");
      expect((await visit(slug, { "user-agent": IPHONE })).location).toBe(OWN);
    }
  });

  it("are refused where no visit can have the system, or the shares are over 100 %", async () => {
    const refused = async (...whens: object[]) => {
      const rules = whens.map((when) => ({ when, url: "https://example.com/led" }));
      const { status, body } = await service.post<{ error: string }>("/api/v1/shorten", owner.key, {
        url: OWN,
        rules,
      });
      return [status, body.error];
    };
    expect(await refused({ os: "Windoze" })).toEqual([
      400,
      expect.stringMatching(/one or more of iOS, Android/),
    ]);
    expect(await refused({ share: 60 }, { share: 50 })).toEqual([
      400,
      expect.stringMatching(/shares of at most 100/),
    ]);
    await shorten({ rules: [60, 40].map((share) => ({ when: { share }, url: "https://example.com/led" })) });
  });
});

describe("what a link carries", () => {
  const rule = (query: Record<string, string | true>) => ({
    when: { query },
    url: "https://example.com/led",
  });

  it("may have conditions on parameters of any name, quotes and backslashes too", async () => {
    const query = { 'a"b': "1", "c\\d": true } as const;
    const slug = await shorten({ rules: [rule(query)], external_id: "odd-names" });
    const { body } = await service.ask<{ rules: unknown }>(`/api/v1/links/${slug}`, { key: owner.key });
    expect(body.rules).toEqual([{ id: expect.any(String), ...rule(query) }]);
    expect((await visit(`${slug}?a%22b=1&c%5Cd`)).location).toBe("https://example.com/led");
    expect((await visit(`${slug}?a%22b=1`)).location).toBe(OWN);
  });

  it("is at most 16 KB in all, and what is refused takes no external id", async () => {
    const values = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, "x".repeat(200)]));
    const fields = { external_id: "much", rules: [rule(values), rule(values)] };
    const { status, body } = await service.post<{ code: string; error: string }>(
      "/api/v1/shorten",
      owner.key,
      {
        ...{ url: OWN, ...fields },
      },
    );
    expect([status, body.code, body.error]).toEqual([
      400,
      "link_too_large",
      expect.stringContaining("16384"),
    ]);
    const slug = await shorten({ external_id: "much", rules: [rule(values)] });
    const patched = await service.ask<{ code: string }>(`/api/v1/links/${slug}`, {
      ...{ method: "PATCH", key: owner.key, body: fields },
    });
    expect([patched.status, patched.body.code]).toEqual([400, "link_too_large"]);
  });
});

describe("a link without options", () => {
  it("answers as ever, and so does one with a title", async () => {
    const as = { status: 301, location: OWN, cache: "private, max-age=0, must-revalidate" };
    expect(await visit(await shorten({}))).toMatchObject(as);
    expect(await visit(await shorten({ title: "A title", tags: ["a"] }))).toMatchObject(as);
  });
});

describe("redirect_code", () => {
  it.each([301, 302, 307, 308])(
    "answers %i, which may be kept as long as it is asked about",
    async (code) => {
      const slug = await shorten({ redirect_code: code });
      const as = { status: code, location: OWN, cache: "private, max-age=0, must-revalidate" };
      expect(await visit(slug)).toMatchObject(as);
      expect(await visit(slug, {}, "HEAD")).toMatchObject(as);
    },
  );

  it("counts also for a link that changes with the visit, whose answer is not kept", async () => {
    const rules = [{ when: { device: "mobile" }, url: "https://example.com/app" }];
    const slug = await shorten({ rules, redirect_code: 307 });
    expect(await visit(slug)).toMatchObject({ status: 307, location: OWN, cache: "no-store" });
    expect(await visit(slug, { "user-agent": IPHONE })).toMatchObject({
      ...{ status: 307, location: "https://example.com/app", cache: "no-store" },
    });
  });
});

describe("rules", () => {
  it("lead each visitor by device, system, language, query and country, else to the link's own destination", async () => {
    const slug = await shorten({
      rules: [
        { when: { os: "ios", language: "de" }, url: "https://example.com/ios-de" },
        { when: { device: ["mobile", "tablet"] }, url: "https://example.com/mobile" },
        { when: { query: { ref: "shop" } }, url: "https://example.com/shop" },
        { when: { country: "us" }, url: "https://example.com/us" },
        { when: { language: ["pt", "es"] }, url: "https://example.com/pt" },
      ],
    });
    const led = async (path: string, headers: Record<string, string>) => {
      const { status, location, cache } = await visit(path, headers);
      expect([status, cache]).toEqual([302, "no-store"]);
      return location;
    };
    const page = (name: string) => `https://example.com/${name}`;
    expect(await led(slug, { "user-agent": IPHONE, "accept-language": "de-DE,en;q=0.5" })).toBe(
      page("ios-de"),
    );
    expect(await led(slug, { "user-agent": IPHONE, "accept-language": "en" })).toBe(page("mobile"));
    expect(await led(`${slug}?ref=shop`, { "user-agent": DESKTOP })).toBe(page("shop"));
    expect(await led(slug, { "user-agent": DESKTOP, "x-forwarded-for": "8.8.8.8" })).toBe(page("us"));
    expect(await led(slug, { "user-agent": DESKTOP, "accept-language": "pt-BR" })).toBe(page("pt"));
    expect(await led(slug, { "user-agent": DESKTOP })).toBe(OWN);

    expect(await led(slug, { "user-agent": DESKTOP, "cf-ipcountry": "US" })).toBe(page("us"));

    await clicksAre(slug, 7);
    const clicks = await service.clicksOf(slug);
    const ids = await ruleIds(slug);
    expect(new Set(ids).size).toBe(5);
    expect(clicks.map(({ rule, longUrl }) => [rule, longUrl])).toEqual([
      [ids[0], page("ios-de")],
      [ids[1], page("mobile")],
      [ids[2], page("shop")],
      [ids[3], page("us")],
      [ids[4], page("pt")],
      ["none", OWN],
      [ids[3], page("us")],
    ]);
    expect(clicks[6]).toMatchObject({ country: "US" });
    expect(clicks[3]).toMatchObject({ country: "US" });
    expect(clicks[5]).toMatchObject({ utm: { source: "own" } });
    expect(clicks[0]).not.toHaveProperty("utm");
  });

  it("are counted by id and destination, for the whole life and for ranges, only where one led", async () => {
    const rules = [
      { when: { device: "mobile" }, url: "https://example.com/mobile?utm_source=rule" },
      { name: "Portuguese", when: { language: "pt" }, url: "https://example.com/pt" },
    ];
    const slug = await shorten({});
    const analytics = async (path = "") => {
      const { body } = await service.ask<{ analytics: Record<string, unknown> }>(
        `/api/v1/analytics/${slug}${path}`,
        { key: owner.key },
      );
      return body.analytics;
    };
    const totalIs = (total: number) =>
      until(`${total} clicks to count`, async () => (await analytics()).totalClicks === total, {
        everyMs: 100,
      });
    await visit(slug, { "user-agent": DESKTOP });
    await totalIs(1);
    expect(await analytics()).not.toHaveProperty("rules");
    expect(await analytics("/range?interval=day")).not.toHaveProperty("rules");
    await service.ask(`/api/v1/links/${slug}`, { method: "PATCH", key: owner.key, body: { rules } });

    for (const headers of [
      { "user-agent": IPHONE },
      { "user-agent": IPHONE },
      { "user-agent": DESKTOP, "accept-language": "pt" },
    ])
      await visit(slug, headers);
    await visit(slug, { "user-agent": IPHONE }, "HEAD");
    await visit(slug, { "user-agent": DESKTOP });
    await totalIs(6);
    const [mobile, pt] = await ruleIds(slug);
    const led = (n: number) => [
      { id: mobile, hits: n, destinations: { [rules[0]?.url ?? ""]: n } },
      { id: pt, name: "Portuguese", hits: 1, destinations: { "https://example.com/pt": 1 } },
      { id: null, hits: 1, destinations: { [OWN]: 1 } },
    ];
    expect(await analytics()).toMatchObject({ rules: led(3), utm: { source: { rule: 3, own: 2 } } });
    expect(await analytics("/range?interval=day")).toMatchObject({ rules: led(3) });
    expect(await analytics("/range?interval=day&kind=click")).toMatchObject({ rules: led(2) });
  });

  it("keep their clicks when they are reordered, renamed, removed and led elsewhere", async () => {
    const [first, second] = ["https://example.com/a", "https://example.com/b"];
    const slug = await shorten({
      rules: [
        { name: "A", when: { query: { v: "a" } }, url: first },
        { name: "B", when: { query: { v: "b" } }, url: second },
      ],
    });
    const [a, b] = await ruleIds(slug);
    const edit = async (rules: unknown) => {
      const { status, body } = await service.ask<{ error: string }>(`/api/v1/links/${slug}`, {
        ...{ method: "PATCH", key: owner.key, body: { rules } },
      });
      return [status, body.error];
    };
    for (let n = 0; n < 3; n++) await visit(`${slug}?v=a`, { "user-agent": DESKTOP });
    await visit(`${slug}?v=b`, { "user-agent": DESKTOP });
    const other = { when: { query: { v: "c" } }, url: "https://example.com/c" };
    await edit([other, { id: b, name: "Second", when: { query: { v: "b" } }, url: `${second}2` }]);
    await visit(`${slug}?v=b`, { "user-agent": DESKTOP });
    await visit(`${slug}?v=c`, { "user-agent": DESKTOP });
    const [c] = await ruleIds(slug);
    expect([a, b]).not.toContain(c);
    // Without ids: the same conditions and destination are the same rule.
    await edit([{ name: "Second", when: { query: { v: "b" } }, url: `${second}2` }, other]);
    expect(await ruleIds(slug)).toEqual([b, c]);
    expect(await edit([{ id: a, ...other }])).toEqual([400, expect.stringContaining("rules.0.id")]);
    expect(
      await edit([
        { id: c, ...other },
        { id: c, ...other },
      ]),
    ).toEqual([400, expect.stringContaining("each id once")]);
    const hits = async () => {
      const { body } = await service.ask<{ analytics: { totalClicks: number; rules: unknown } }>(
        `/api/v1/analytics/${slug}`,
        { key: owner.key },
      );
      return body.analytics;
    };
    await until("6 clicks to count", async () => (await hits()).totalClicks === 6, { everyMs: 100 });
    expect((await hits()).rules).toEqual([
      { id: a, hits: 3, destinations: { [first]: 3 } },
      { id: b, name: "Second", hits: 2, destinations: { [second]: 1, [`${second}2`]: 1 } },
      { id: c, hits: 1, destinations: { [other.url]: 1 } },
    ]);
  });

  it("are a column of exported clicks", async () => {
    const slug = await shorten({
      rules: [{ when: { device: "mobile" }, url: "https://example.com/mobile" }],
    });
    await visit(slug, { "user-agent": IPHONE });
    await visit(slug, { "user-agent": DESKTOP });
    await clicksAre(slug, 2);
    const path = `/api/v1/clicks/export?format=ndjson&link=${slug}`;
    const exported = async () => {
      const { text } = await service.ask(path, { key: owner.key });
      const lines = text.split("\n").filter((line) => line !== "");
      return lines.map((line) => JSON.parse(line)).map(({ rule, long_url }) => [rule, long_url]);
    };
    await expect.poll(exported, { timeout: 30_000, interval: 200 }).toEqual([
      [(await ruleIds(slug))[0], "https://example.com/mobile"],
      ["none", OWN],
    ]);
  });
});

describe("a link's time", () => {
  const times = { active_from: "2026-05-01T12:00:00Z", expires_at: "2026-05-01T13:00:00Z" };
  const at = async (time: string, path: string, headers: Record<string, string> = {}, method = "GET") => {
    now = Date.parse(time);
    try {
      return await visit(path, headers, method);
    } finally {
      now = NOON;
    }
  };
  const BEFORE = "2026-05-01T11:59:59.999Z";
  const AFTER = "2026-05-01T13:00:00.000Z";

  it("is what it works in, from the first millisecond to the last", async () => {
    const slug = await shorten(times);
    for (const time of ["2026-05-01T12:00:00.000Z", "2026-05-01T12:59:59.999Z"])
      expect(await at(time, slug)).toMatchObject({ status: 302, location: OWN, cache: "no-store" });
    await clicksAre(slug, 2);
  });

  it("leaves 404 outside, as JSON or as a page that says why, and no click", async () => {
    const slug = await shorten(times);
    for (const [time, code, words] of [
      [BEFORE, "link_not_active", "This short link is not active yet"],
      [AFTER, "link_expired", "This short link has expired"],
    ] as const) {
      const json = await at(time, slug);
      expect(json).toMatchObject({ status: 404, cache: "no-store" });
      expect(JSON.parse(json.text)).toMatchObject({ error: words, code });
      const page = await at(time, slug, { accept: "text/html" });
      expect(page.status).toBe(404);
      expect(page.text).toContain(`<h1>${words}</h1>`);
      expect(await at(time, slug, {}, "HEAD")).toMatchObject({ status: 404, cache: "no-store", text: "" });
    }
    await visit(slug);
    await clicksAre(slug, 1);
    expect(await service.clicksOf(slug)).toHaveLength(1);
  });

  it("leads to expired_url once it is over, and not before it has begun, without the visitor's query, and no click", async () => {
    const expired_url = "https://example.com/over";
    const slug = await shorten({ ...times, expired_url, forward_query: true });
    expect(await at(AFTER, `${slug}?a=1`)).toMatchObject({
      status: 302,
      location: expired_url,
      cache: "no-store",
    });
    expect(await at(BEFORE, slug)).toMatchObject({ status: 404, location: undefined });
    expect(await at(NOON_TEXT, `${slug}?a=1`)).toMatchObject({
      location: "https://example.com/own?utm_source=own&a=1#top",
    });
    await clicksAre(slug, 1);
    expect(await service.clicksOf(slug)).toHaveLength(1);
  });
  const NOON_TEXT = new Date(NOON).toISOString();
});

describe("forward_query", () => {
  it("joins what visitors bring, the destination's own parameters win, and the answer stays 301", async () => {
    const slug = await shorten({ forward_query: true });
    expect(await visit(`${slug}?a=1&utm_source=theirs&qr=1&b`)).toMatchObject({
      ...{ status: 301, cache: "private, max-age=0, must-revalidate" },
      location: "https://example.com/own?utm_source=own&a=1&b#top",
    });
    await clicksAre(slug, 1);
    // What was led to, without what the visitor brought.
    expect((await service.clicksOf(slug))[0]).toMatchObject({ longUrl: OWN, kind: "preview" });
  });

  it("leaves the visitor's parameters where those win, and takes `destination` for what it is", async () => {
    const slug = await shorten({ forward_query: "visitor" });
    expect((await visit(`${slug}?a=1&utm_source=theirs`)).location).toBe(
      "https://example.com/own?a=1&utm_source=theirs#top",
    );
    const other = await shorten({ forward_query: "destination" });
    expect((await visit(`${other}?a=1&utm_source=theirs`)).location).toBe(
      "https://example.com/own?utm_source=own&a=1#top",
    );
  });

  it("joins the destination of a rule, too", async () => {
    const rules = [{ when: { query: { to: true } }, url: "https://example.com/rule?to=own" }];
    const slug = await shorten({ rules, forward_query: true });
    expect((await visit(`${slug}?to=x&a=%ZZ&c=%0d%0aset-cookie:x`)).location).toBe(
      "https://example.com/rule?to=own&a=%25ZZ&c=%0d%0aset-cookie:x",
    );
  });

  it("has no bound of its own", async () => {
    const slug = await shorten({ forward_query: true });
    const long = `a=${"x".repeat(12_000)}`;
    expect((await visit(`${slug}?${long}`)).location).toBe(
      `https://example.com/own?utm_source=own&${long}#top`,
    );
  });
});

describe("each click", () => {
  it("leads to a destination that its link had at that revision", async () => {
    const { eventStore } = service.backend;
    const recorded = await loggedEvents(eventStore, { categories: [CATEGORY.clicks], limit: 10_000 });
    const clicks = recorded.map(({ data }) => data as LinkClicked["data"]);
    expect(clicks.filter(({ rule }) => rule !== undefined).length).toBeGreaterThan(20);
    for (const { link: key, linkRevision, longUrl, rule } of clicks) {
      const first = (stream: string) => eventStore.read(stream, { limit: linkRevision + 1 });
      const link = await linkFromStream({ read: first }, key);
      const led = link?.rules?.find(({ id }) => id === rule)?.url;
      expect(rule === undefined || rule === NO_RULE ? link?.longUrl : led).toBe(longUrl);
    }
  });
});
