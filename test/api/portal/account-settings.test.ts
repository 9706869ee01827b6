// What an operator decides of accounts by settings: who may open one, what each tier may have, and whose slugs the base host
// takes; and that a form sent twice issues one key.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { invite } from "../../../src/commands/people/one-time-tokens.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { PASSWORD, visitor } from "../../support/portal/browser-like.ts";
import { portalPeople } from "../../support/portal/portal-people.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const WEEK_MS = 7 * 86_400_000;

describe("a service whose sign-up is closed", () => {
  let service: TestService;
  let addresses = 0;
  beforeAll(async () => {
    service = await startTestService({ SIGN_UP: "closed", TRUST_PROXY: "loopback" });
  });
  afterAll(() => service.stop());
  const stranger = () => visitor(service.port, { address: `198.51.100.${++addresses}` });
  const invited = async (email: string, tier: "free" | "developer" = "developer") => {
    const deps = { ...runtimeDeps, ...service.backend };
    return (await invite(deps, { email, tier, isMailed: false }, WEEK_MS)).path;
  };

  it("says whom to ask, offers no sign-up anywhere, and refuses the form", async () => {
    const somebody = stranger();
    for (const page of ["/", "/portal/sign-in"])
      expect((await somebody.get(page)).text).not.toContain("/portal/sign-up");
    const page = await somebody.get("/portal/sign-up");
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("Ask the operator")]);
    const sent = await somebody.post("/portal/sign-up", { email: "a@example.com", password: PASSWORD });
    expect([sent.status, sent.text]).toEqual([403, expect.stringContaining("ask for an invitation")]);
  });

  it("opens an account of the invited tier behind an invitation, once", async () => {
    const path = await invited("guest@example.com");
    const token = new URLSearchParams(path.split("?")[1]).get("token") ?? "";
    const guest = stranger();
    const landed = await guest.submit(path, { token, password: PASSWORD }, "/portal/sign-up/finish");
    expect([landed.status, landed.text]).toEqual([200, expect.stringContaining(">Developer<")]);
    expect((await stranger().get(path)).status).toBe(404);
    await expect(invited("Guest@example.com")).rejects.toMatchObject({ code: "email_taken" });
  });

  it("lets its people choose slugs on the base host, but none of the service's own words, in the portal, by the API and in a list", async () => {
    const path = await invited("slugs@example.com");
    const token = new URLSearchParams(path.split("?")[1]).get("token") ?? "";
    const person = stranger();
    await person.submit(path, { token, password: PASSWORD }, "/portal/sign-up/finish");
    const url = "https://example.com/spring";
    const made = await person.post("/portal/links", { url, slug: "Spring" });
    expect([made.status, made.headers.location]).toEqual([303, expect.stringMatching(/\/spring$/)]);
    expect((await service.ask("/spring")).headers.location).toBe(url);
    const again = await person.post("/portal/links", { url, slug: "spring" });
    expect(again.status).toBe(409);
    const own = await person.post("/portal/links", { url, slug: "portal" });
    expect([own.status, own.text]).toEqual([422, expect.stringContaining("portal is reserved")]);
    expect(own.text).toContain("Invalid custom slug: portal is reserved");
    const form = await person.get("/portal/links/new");
    expect([form.text.includes('name="slug"'), form.text.includes("BASE_HOST_SLUGS")]).toEqual([true, false]);
    const list = ["url,slug", ...Array.from({ length: 30 }, (_, n) => `${url}?${n},spring-${n}`)].join("\n");
    const pasted = await person.post("/portal/links/many", { list, act: "create" });
    expect(pasted.text).toContain("30 rows: 30 created.");
    const { key } = await service.member("developer");
    const shorten = (customSlug: string) => service.post("/api/v1/shorten", key, { url, customSlug });
    expect(await shorten("Summer")).toMatchObject({
      status: 201,
      body: { short_url: expect.stringMatching(/\/summer$/) },
    });
    expect(await shorten("summer")).toMatchObject({ status: 409, body: { code: "slug_taken" } });
    expect(await shorten("api")).toMatchObject({
      ...{ status: 422, body: { error: "Invalid custom slug: api is reserved" } },
    });
    const links = [
      { url, customSlug: "autumn" },
      { url, customSlug: "autumn" },
      { url, customSlug: "docs" },
    ];
    const bulk = await service.post<{ results: { slug: string }[]; errors: { error: string }[] }>(
      ...(["/api/v1/shorten/bulk", key, { links }] as const),
    );
    expect(bulk.body.results).toMatchObject([{ index: 0, slug: "autumn" }]);
    expect(bulk.body.errors).toMatchObject([
      { index: 1 },
      { index: 2, error: expect.stringMatching(/reserved/) },
    ]);
  });
});

describe("limits by settings", () => {
  let service: TestService;
  let people: ReturnType<typeof portalPeople>;
  beforeAll(async () => {
    const limits = {
      RATE_LIMIT_FREE: "3",
      MAX_KEYS_FREE: "3",
      MAX_WEBHOOKS: "1",
      RATE_LIMIT_DEVELOPER: "40",
    };
    service = await startTestService({ ...limits, TRUST_PROXY: "loopback", WEBHOOK_ALLOW_PRIVATE: "true" });
    people = portalPeople(service);
  });
  afterAll(() => service.stop());

  it("are those that keys, webhooks and requests meet, and that pages tell", async () => {
    const { key, accountId } = await service.member("free");
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) statuses.push((await service.ask("/api/v1/links", { key })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    await service.issueKey(accountId);
    await service.issueKey(accountId);
    await expect(service.issueKey(accountId)).rejects.toMatchObject({ code: "key_limit_reached" });

    const developer = await people.developer();
    const page = await developer.get("/portal/plan");
    for (const text of ["3 an hour and key", "40 an hour and key", "1, with retries"])
      expect(page.text).toContain(text);
    const add = () => developer.post("/portal/webhooks", { url: "http://127.0.0.1:9999/", kinds: "click" });
    const [first, second] = [await add(), await add()];
    expect([first.status, second.status]).toEqual([200, 400]);
  });

  it("let the form of a new key issue one key, however often it is sent", async () => {
    const person = await people.person();
    const once = /name="once" value="([^"]+)"/.exec((await person.get("/portal/keys")).text)?.[1] ?? "";
    const first = await person.post("/portal/keys", { label: "a", once });
    expect([first.status, first.text]).toEqual([200, expect.stringContaining("Your new API key")]);
    const again = await person.submit("/portal/keys", { label: "a", once });
    expect(again.text).toContain("issued already");
    expect(again.text).not.toMatch(/ll_[A-Za-z0-9]{32}/);
    expect(again.text.match(/badge-good">Active/g)).toHaveLength(1);
  });
});
