// CLIENT_IP_HEADER and CLIENT_COUNTRY_HEADER in the running service: limits and clicks go by what the proxy says.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/runtime/until.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

describe("the client that a trusted proxy names in headers of its own", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      TRUST_PROXY: "127.0.0.1/32",
      CLIENT_IP_HEADER: "CF-Connecting-IP",
      CLIENT_COUNTRY_HEADER: "CF-IPCountry",
    });
  });
  afterAll(() => service?.stop());

  it("has a rate limit of its own, whatever X-Forwarded-For says", async () => {
    const remaining = async (address: string, forwarded: string) => {
      const headers = { "cf-connecting-ip": address, "x-forwarded-for": forwarded };
      const answer = await service.ask("/api/v1/links", { headers });
      return Number(answer.headers["x-ratelimit-remaining"]);
    };
    const first = await remaining("198.51.100.7", "192.0.2.1");
    expect(await remaining("198.51.100.7", "192.0.2.2")).toBe(first - 1);
    expect(await remaining("198.51.100.8", "192.0.2.2")).toBe(first);
  });

  it("is no operator, whom a request of this machine that no proxy forwarded comes from", async () => {
    const metrics = async (headers: Record<string, string>) =>
      (await service.ask("/metrics", { headers })).status;
    expect(await metrics({})).toBe(200);
    for (const name of ["cf-connecting-ip", "x-forwarded-for"])
      for (const value of ["198.51.100.7", "127.0.0.1", "nonsense", ""])
        expect([name, value, await metrics({ [name]: value })]).toEqual([name, value, 404]);
  });

  it("is counted in the country that the proxy names, and in its own network", async () => {
    const { key } = await service.member("developer");
    const url = "https://example.com/";
    const { slug } = (await service.post<{ slug: string }>("/api/v1/shorten", key, { url })).body;
    for (const country of ["IS", "XX"])
      await service.ask(`/${slug}`, {
        headers: { "cf-connecting-ip": "127.1.2.3", "cf-ipcountry": country },
      });
    const analytics = async () =>
      (
        await service.ask<{ analytics: { countries: object; recentClicks: { ip: string }[] } }>(
          `/api/v1/analytics/${slug}`,
          { key },
        )
      ).body.analytics;
    await until("both clicks", async () => (await analytics()).recentClicks.length === 2, { everyMs: 200 });
    const { countries, recentClicks } = await analytics();
    expect(countries).toEqual({ IS: 1, unknown: 1 });
    expect(recentClicks.map(({ ip }) => ip)).toEqual(["127.1.2.0", "127.1.2.0"]);
  });
});
