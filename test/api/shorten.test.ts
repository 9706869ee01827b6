// POST /api/v1/shorten over real HTTP (interface, parts 2, 4 and 7).
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  BASE_URL,
  type Member,
  startTestService,
  type TestService,
} from "../support/service/start-service.ts";

const URL_GIVEN = "https://example.com/some/path?utm_source=mail#top";
type Link = Record<string, string>;

describe("part 4, POST /api/v1/shorten", () => {
  let service: TestService;
  let free: Member;
  let developer: Member;
  let domainId: string;
  const shorten = (member: Member, body: unknown) => service.post<Link>("/api/v1/shorten", member.key, body);

  beforeAll(async () => {
    service = await startTestService();
    free = await service.member("free");
    developer = await service.member("developer");
    domainId = await service.domain(developer.accountId, "go.example.org");
  });
  afterAll(() => service.stop());

  it("answers 201 with the Link object, and without fields of a custom domain on the default domain", async () => {
    const { status, body, headers } = await shorten(free, { url: URL_GIVEN });
    expect(status).toBe(201);
    expect(headers["content-type"]).toMatch(/^application\/json/);
    expect(body).toEqual({
      short_url: `${BASE_URL}/${body.slug}`,
      slug: expect.stringMatching(/^[a-z0-9]{7}$/),
      long_url: URL_GIVEN,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      qr_download_url: `${BASE_URL}/api/qr/${body.slug}`,
    });
  });

  it("part 1: creates a link that redirects to the long URL immediately, for GET and HEAD", async () => {
    const { body } = await shorten(free, { url: URL_GIVEN });
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await service.ask(`/${body.slug}`, { method });
      expect([status, headers.location]).toEqual([301, URL_GIVEN]);
    }
  });

  it("creates on a custom domain, with custom_domain and domain_id in the answer", async () => {
    const { status, body } = await shorten(developer, {
      url: URL_GIVEN,
      domain_id: domainId,
      customSlug: "Spring_Sale",
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      short_url: "https://go.example.org/spring_sale",
      slug: "spring_sale",
      custom_domain: "go.example.org",
      domain_id: domainId,
    });
    expect(body.qr_download_url).toMatch(`${BASE_URL}/api/qr/spring_sale`);
    const there = await service.ask("/SPRING_sale", { host: "go.example.org" });
    expect([there.status, there.headers.location]).toEqual([301, URL_GIVEN]);
    expect((await service.ask("/spring_sale")).status).toBe(404);
  });

  it("drops zero-width characters around a URL, as they come along when it is copied", async () => {
    const { status, body } = await shorten(developer, { url: `\u200b\ufeff${URL_GIVEN}\u200d` });
    expect([status, body.long_url]).toEqual([201, URL_GIVEN]);
    expect((await shorten(developer, { url: "https://exa\u200bmple.com/\u2028" })).status).toBe(400);
  });

  it("finds an existing link by the URL as browsers normalise it", async () => {
    const key = { ...developer };
    const first = await shorten(key, { url: "https://find.example" });
    for (const url of ["https://find.example/", "HTTPS://FIND.example:443", "https://find.example:443/"]) {
      const { status, body } = await shorten(key, { url, find_existing: true });
      expect([status, body.slug]).toEqual([200, first.body.slug]);
    }
    expect((await shorten(key, { url: "https://find.example/a", find_existing: true })).status).toBe(201);
  });

  it("creates a random slug on a custom domain when none is requested", async () => {
    const { status, body } = await shorten(developer, { url: URL_GIVEN, domain_id: domainId });
    expect([status, body.short_url]).toEqual([201, `https://go.example.org/${body.slug}`]);
  });

  it.each(["abc", "a".repeat(50), "A-b_9"])("accepts the custom slug %s", async (customSlug) => {
    const { status, body } = await shorten(developer, { url: URL_GIVEN, domain_id: domainId, customSlug });
    expect([status, body.slug]).toEqual([201, customSlug.toLowerCase()]);
  });

  it.each([
    "ab",
    "a".repeat(51),
    "",
    "a b c",
    "ünïcode",
    "a/b/c",
    "abc\u0000",
    "abc\n",
    "../..",
    "a.b.c",
    "ａｂｃ",
  ])("answers 422 to the custom slug %j", async (customSlug) => {
    const { status, body } = await shorten(developer, { url: URL_GIVEN, domain_id: domainId, customSlug });
    expect([status, body.code]).toEqual([422, "invalid_slug"]);
  });

  it("answers 409 to a custom slug that exists on the domain, in any case", async () => {
    const slug = { url: URL_GIVEN, domain_id: domainId, customSlug: "taken-one" };
    expect((await shorten(developer, slug)).status).toBe(201);
    const again = await shorten(developer, { ...slug, customSlug: "TAKEN-One" });
    expect([again.status, again.body.code]).toEqual([409, "slug_taken"]);
  });

  it("gives each domain its own slugs", async () => {
    const other = await service.domain(developer.accountId, "two.example.org");
    for (const domain_id of [domainId, other])
      expect((await shorten(developer, { url: URL_GIVEN, domain_id, customSlug: "same" })).status).toBe(201);
  });

  it("lets exactly one of two concurrent creates of a custom slug win, the other gets 409", async () => {
    const racer = await service.member("developer");
    const domain_id = await service.domain(racer.accountId, "race.example.org");
    const keys = [racer.key, (await service.issueKey(racer.accountId)).key];
    for (let round = 0; round < 50; round++) {
      const body = { url: URL_GIVEN, domain_id, customSlug: `race-${round}` };
      const answers = await Promise.all(keys.map((key) => service.post("/api/v1/shorten", key, body)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    }
  });

  it("part 7: answers 402 for custom slugs and custom domains off the Developer tier", async () => {
    for (const more of [
      { customSlug: "my-slug" },
      { domain_id: domainId },
      { domain_id: domainId, customSlug: "x" },
    ]) {
      const { status, body } = await shorten(free, { url: URL_GIVEN, ...more });
      expect([status, body.code]).toEqual([402, "tier_required"]);
      expect(body.error).toMatch(/require the Developer plan/);
    }
  });

  it("answers 400 to a custom slug without domain_id: they are only available with custom domains", async () => {
    const { status, body } = await shorten(developer, { url: URL_GIVEN, customSlug: "my-slug" });
    expect(status).toBe(400);
    expect(body.error).toMatch(/only available with custom domains.*BASE_HOST_SLUGS=true/);
  });

  it("part 7: answers 400 to a domain that is unknown, unverified, inactive or another user's", async () => {
    const stranger = await service.member("developer");
    await service.domain(stranger.accountId, "unverified.example.org", { verify: false });
    for (const domain_id of ["3f0d5f2e-6f1c-4b52-9c1b-0f6f7a1f4f11", "not-a-uuid", domainId]) {
      const { status, body } = await shorten(stranger, { url: URL_GIVEN, domain_id });
      expect([status, body.code]).toEqual([400, "invalid_domain"]);
      expect(body.error).toMatch(/not found, not verified or not active/);
    }
  });

  it.each([
    "ftp://example.com",
    "javascript:alert(1)",
    "data:text/html,x",
    "example.com",
    "",
    "http://",
    "https://user:pw@example.com/",
    "//example.com",
    "http://exa mple.com",
    "https://example.com/\r\nset-cookie: a=b",
    `https://example.com/${"a".repeat(8192)}`,
    `${BASE_URL}/abcdefg`,
  ])("part 7: answers 400 to the URL %j and requires a valid HTTP/HTTPS URL", async (url) => {
    const member = await service.member("free");
    const { status, body } = await shorten(member, { url });
    expect([status, body.code]).toEqual([400, "invalid_url"]);
    expect(body.error).toMatch(/valid HTTP\/HTTPS URL/);
  });

  it("checks in the order body, tier, url, domain, slug", async () => {
    const wrong = { url: "nope", domain_id: "nope", customSlug: "!" };
    expect((await shorten(free, { ...wrong, extra: 1 })).status).toBe(400);
    expect((await shorten(free, wrong)).body.code).toBe("tier_required");
    expect((await shorten(developer, wrong)).body.code).toBe("invalid_url");
    expect((await shorten(developer, { ...wrong, url: URL_GIVEN })).body.code).toBe("invalid_domain");
    expect((await shorten(developer, { ...wrong, url: URL_GIVEN, domain_id: domainId })).body.code).toBe(
      "invalid_slug",
    );
  });
});
