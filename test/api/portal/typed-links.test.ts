// What was typed in the portal's forms of links: without a scheme, and kept whyever it is refused.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { portalPeople } from "../../support/portal/portal-people.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const URL_TYPED = "example.com/typed?a=1&b=%22";
const CHANGES = 50;

let service: TestService;
let people: ReturnType<typeof portalPeople>;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  people = portalPeople(service);
});
afterAll(() => service.stop());

/** Text of the long address's field. */
function typedIn(page: string): string {
  return decoded(/name="url" type="text"\s*value="([^"]*)"/.exec(page)?.[1] ?? "").replaceAll("&amp;", "&");
}

describe("a long address that is typed", { timeout: 60_000 }, () => {
  it("may leave out https://, in a form alone", async () => {
    const one = await people.developer();
    const path = await people.shorten(one, "example.com/foo");
    expect((await people.follow(path)).headers.location).toBe("https://example.com/foo");
    const { key } = await service.issueKey(one.accountId);
    const { status } = await service.post("/api/v1/shorten", key, { url: "example.com/foo" });
    expect(status).toBe(400);
    const refused = await one.submit("/portal/links/new", { url: "ftp://example.com/" }, "/portal/links");
    expect([refused.status, typedIn(refused.text)]).toEqual([400, "ftp://example.com/"]);
    expect(decoded(refused.text)).toContain("not ftp:");
  });

  it("is kept in a form that is too long, or whose session is over", async () => {
    const one = await people.person();
    const long = await one.post("/portal/links", { url: `${URL_TYPED}${"x".repeat(5_000)}` });
    expect([long.status, typedIn(long.text).startsWith(URL_TYPED)]).toEqual([400, true]);
    const tooLong = await one.post("/portal/links", { url: "x".repeat(70_000) });
    expect([tooLong.status, tooLong.text.includes('action="/portal/links"')]).toEqual([400, true]);

    one.cookies.delete("linkledger-session");
    const over = await one.post("/portal/links", { url: URL_TYPED });
    const back = new URL(String(over.headers.location), "http://x").searchParams.get("next") ?? "";
    await one.submit("/portal/sign-in", { email: one.email, password: "seven brown foxes" });
    expect(typedIn((await one.get(back)).text)).toBe(URL_TYPED);
  });

  it("is not shown for a form of another site", async () => {
    const one = await people.person();
    const { status, text } = await service.ask<string>("/portal/links", {
      method: "POST",
      headers: {
        ...{ cookie: one.cookie(), accept: "text/html", "sec-fetch-site": "cross-site" },
        "content-type": "application/x-www-form-urlencoded",
      },
      body: "url=https%3A%2F%2Fevil.example%2F",
    });
    expect([status, text.includes("evil.example")]).toEqual([403, false]);
  });

  it("is kept when the hour's changes are used up, for a new link and for a destination", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/first");
    for (let n = 1; n < CHANGES; n += 1) await one.post("/portal/plan/withdraw", {});
    for (const action of ["/portal/links", `${path}/destination`]) {
      const { status, text, headers } = await one.post(action, { url: URL_TYPED });
      expect([status, typedIn(text)]).toEqual([429, URL_TYPED]);
      expect(text).toContain("You have made 50 changes within an hour");
      expect(headers["retry-after"]).toMatch(/^\d+$/);
    }
  });

  it("has its form a click away from every page, for those who are signed in", async () => {
    const one = await people.person();
    const path = await people.shorten(one, "https://example.com/");
    const button = 'href="/portal/links/new"';
    for (const at of [
      "/portal",
      "/portal/links",
      path,
      `${path}/analytics`,
      "/portal/keys",
      "/portal/account",
    ])
      expect([at, (await one.get(at)).text.includes(button)]).toEqual([at, true]);
    expect((await one.get("/portal/none")).text).toContain(button);
    expect((await service.ask<string>("/portal/sign-in")).text).not.toContain(button);
  });
});
