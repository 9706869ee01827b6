// Filters of the list of links: by when links were made, and saved under names, by the API and in the portal alike.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decoded } from "../support/portal/browser-like.ts";
import { portalPeople } from "../support/portal/portal-people.ts";
import { until } from "../support/runtime/until.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

type Answer = { name?: string; filters?: { name: string; filter: object }[]; code?: string };

let service: TestService;
let people: ReturnType<typeof portalPeople>;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  people = portalPeople(service);
});
afterAll(() => service.stop());

const PATH = "/api/v1/saved-filters";
const asText = (text: string) => decoded(text).replaceAll("&amp;", "&");

describe("saved filters", { timeout: 60_000 }, () => {
  it("are the same by API and portal: saved, shown above the list and on the dashboard, replaced, removed", async () => {
    const one = await people.developer();
    const { key } = await service.issueKey(one.accountId);
    await people.shorten(one, "https://example.com/spring", { tags: "spring" });
    await people.shorten(one, "https://example.com/autumn", { tags: "autumn" });
    const query = "?q=example&tag=spring&made_by=portal";
    const filtered = `/portal/links${query}`;
    await until("the links", async () => (await one.get(filtered)).text.includes("Save this filter"));
    const saved = await one.follow(
      await one.post(`/portal/links/filters${query}`, { name: " Spring & co " }),
    );
    expect(asText(saved.text)).toContain("The filter Spring & co is saved.");
    expect(asText(saved.text)).toContain(`<a href="${filtered}" aria-current="true">Spring & co</a>`);
    for (const page of ["/portal", "/portal/links"])
      expect(asText((await one.get(page)).text)).toMatch(
        new RegExp(`<a href="${filtered.replace("?", "\\?")}" *>Spring & co</a>`),
      );

    const list = async () => (await service.ask<Answer>(PATH, { key })).body.filters;
    const filter = { q: "example", tag: "spring", made_by: "portal" };
    expect(await list()).toEqual([{ name: "Spring & co", filter }]);
    const shown = await service.ask<{ links: { long_url: string }[] }>(
      `/api/v1/links?scope=account&${new URLSearchParams(filter)}`,
      { key },
    );
    expect(shown.body.links.map(({ long_url }) => long_url)).toEqual(["https://example.com/spring"]);

    const replaced = { name: "Spring & co", status: "live", from: "2026-01-01" };
    expect((await service.post(PATH, key, replaced)).status).toBe(201);
    expect(await list()).toEqual([{ name: "Spring & co", filter: { status: "live", from: "2026-01-01" } }]);
    const removal = () =>
      service.ask<Answer>(`${PATH}/${encodeURIComponent("Spring & co")}`, { method: "DELETE", key });
    expect((await removal()).status).toBe(200);
    expect((await removal()).body.code).toBe("filter_not_found");
    expect((await one.get("/portal")).text).not.toContain("Saved filters");
  });

  it.each([
    [{ name: "", tag: "a" }, "name"],
    [{ name: "x".repeat(51), tag: "a" }, "name"],
    [{ name: "Nothing" }, "filter by something"],
    [{ name: "Never", from: "yesterday" }, "from"],
    [{ name: "State", status: "sleeping" }, "status"],
    [{ name: "Maker", made_by: "nobody" }, "made_by"],
    [{ name: "Domain", domain_id: "go.example.com" }, "domain_id"],
  ])("refuse %j", async (body, why) => {
    const { key } = await service.member("free");
    const { status, body: answer } = await service.post<{ error: string }>(PATH, key, body);
    expect([status, answer.error.includes(why)]).toEqual([400, true]);
  });

  it("say in the portal why one is not saved", async () => {
    const one = await people.person();
    await people.shorten(one, "https://example.com/a");
    const refused = await one.post("/portal/links/filters", { name: "All" });
    expect([refused.status, refused.text.includes("must filter by something")]).toEqual([400, true]);
    const long = await one.post(`/portal/links/filters?tag=${"x".repeat(51)}`, { name: "Long" });
    expect([long.status, long.text.includes("at most 50 characters")]).toEqual([400, true]);
  });

  it("filter by the days in which links were made, of the account's own zone", async () => {
    const one = await people.person();
    await people.shorten(one, "https://example.com/today");
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const shows = async (query: string) =>
      (await one.get(`/portal/links?${query}`)).text.includes("https://example.com/today");
    await until("the link", () => shows(""));
    expect(await shows(`from=${day(-1)}&to=${day(2)}`)).toBe(true);
    expect(await shows(`from=${day(2)}`)).toBe(false);
    expect(await shows(`to=${day(-1)}`)).toBe(false);
    expect(await shows(`sort=clicks&to=${day(-1)}`)).toBe(false);
  });
});
