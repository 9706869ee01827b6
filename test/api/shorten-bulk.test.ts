// POST /api/v1/shorten/bulk over real HTTP (interface, part 4).
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const url = "https://example.com/bulk";
type Bulk = {
  success: boolean;
  tier: string;
  total: number;
  created: number;
  failed: number;
  results: Record<string, unknown>[];
  errors: { index: number; url: string; error: string }[];
};

describe("part 4, POST /api/v1/shorten/bulk", () => {
  let service: TestService;
  let developer: Member;
  let domainId: string;
  const bulk = (links: unknown, key = developer.key) =>
    service.post<Bulk>("/api/v1/shorten/bulk", key, { links });

  beforeAll(async () => {
    service = await startTestService();
    developer = await service.member("developer");
    domainId = await service.domain(developer.accountId, "bulk.example.org");
  });
  afterAll(() => service.stop());

  it("answers 201 with a result for each created link and an error for each failed item", async () => {
    const { status, body } = await bulk([
      { url },
      { url: "javascript:alert(1)" },
      { url, domain_id: domainId, customSlug: "One-More" },
      { url, customSlug: "no-domain" },
    ]);
    expect(status).toBe(201);
    expect(body).toMatchObject({ success: true, tier: "developer", total: 4, created: 2, failed: 2 });
    expect(body.results[0]).toEqual({
      index: 0,
      short_url: expect.stringMatching(/^http:\/\/localhost\/[a-z0-9]{7}$/),
      slug: expect.any(String),
      long_url: url,
      created_at: expect.any(String),
    });
    expect(body.results[1]).toMatchObject({
      index: 2,
      short_url: "https://bulk.example.org/one-more",
      custom_domain: "bulk.example.org",
      domain_id: domainId,
    });
    expect(body.errors).toMatchObject([
      { index: 1, url: "javascript:alert(1)", error: expect.stringMatching(/valid HTTP\/HTTPS URL/) },
      {
        index: 3,
        url,
        error: expect.stringMatching(/only available with custom domains.*BASE_HOST_SLUGS=true/),
      },
    ]);
  });

  it("refuses an item with a field that poisons prototypes like any unknown field, and makes the others", async () => {
    const poisoned = ['"__proto__":{"url":1}', '"constructor":{"prototype":{"url":1}}'];
    const items = ["", ...poisoned.map((field) => `,${field}`)].map((more) => `{"url":"${url}"${more}}`);
    const answer = await service.post<Bulk>(
      "/api/v1/shorten/bulk",
      developer.key,
      `{"links":[${items.join()}]}`,
    );
    expect([answer.status, answer.body.created]).toEqual([201, 1]);
    expect(answer.body.errors.map(({ index, error }) => [index, error])).toEqual([
      [1, expect.stringContaining('"__proto__"')],
      [2, expect.stringContaining('"constructor"')],
    ]);
  });

  it("creates 100 links of 8,192 characters in one request, which counts as one", async () => {
    const long = `https://example.com/${"a".repeat(8192 - 20)}`;
    const { status, body, headers } = await bulk(Array.from({ length: 100 }, () => ({ url: long })));
    const before = Number(headers["x-ratelimit-remaining"]);
    expect([status, body.created]).toEqual([201, 100]);
    expect(new Set(body.results.map(({ slug }) => slug)).size).toBe(100);
    const next = await bulk([{ url }]);
    expect(Number(next.headers["x-ratelimit-remaining"])).toBe(before - 1);
  });

  it("answers 201 with success false when every item fails", async () => {
    const { status, body } = await bulk([
      { url: "x" },
      "text",
      null,
      7,
      { nourl: 1 },
      { url: { $gt: "" } },
      [],
      { url, x: 1 },
    ]);
    expect(status).toBe(201);
    expect(body).toMatchObject({ success: false, total: 8, created: 0, failed: 8, results: [] });
    expect(body.errors.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("lets the first of equal custom slugs in one request win", async () => {
    const item = { url, domain_id: domainId, customSlug: "twice" };
    const { body } = await bulk([item, { ...item, customSlug: "TWICE" }]);
    expect([body.created, body.errors[0]?.index]).toEqual([1, 1]);
    expect(body.errors[0]?.error).toMatch(/already exists/);
  });

  it("answers 400 to none, more than 100, and anything but a list", async () => {
    const tooMany = Array.from({ length: 101 }, () => ({ url }));
    for (const links of [[], tooMany, {}, "x", null, undefined])
      expect((await bulk(links)).status, JSON.stringify(links)?.slice(0, 20)).toBe(400);
  });

  it("part 7: answers 402 off the Developer tier, but 400 to a body that is wrong for anybody", async () => {
    const free = await service.member("free");
    expect((await bulk([{ url }], free.key)).status).toBe(402);
    expect((await bulk([], free.key)).status).toBe(400);
  });
});
