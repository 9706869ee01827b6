// Withdrawals in the console over real HTTP: shown, made, refused and taken back, by its pages and by its JSON API.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decoded, FIREFOX, type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { ADMIN_TOKEN, operatorOf } from "../../support/portal/operator.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

/** A key may ask 500 times an hour. */
const SELDOM = { everyMs: 200 };

describe("withdrawals in the console", { timeout: 60_000 }, () => {
  let service: TestService;
  let browser: Visitor;
  let api: ReturnType<typeof operatorOf>;
  let key: string;
  let slug: string;
  let page: string;
  const today = new Date().toISOString().slice(0, 10);

  beforeAll(async () => {
    service = await startTestService({ ADMIN_TOKEN, TRUST_PROXY: "127.0.0.1" });
    ({ key } = await service.member("developer"));
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      url: "https://example.com/",
    });
    ({ slug } = body);
    const follow = (agent: string) => service.ask(`/${slug}`, { headers: { "user-agent": agent } });
    for (let n = 0; n < 4; n++) await follow(FIREFOX);
    for (let n = 0; n < 3; n++) await follow(`${FIREFOX} <b>loadtest</b>`);
    await until("all clicks", async () => (await total()) === 7, SELDOM);
    api = operatorOf(service);
    browser = visitor(service.port);
    await browser.submit("/admin/sign-in", { token: ADMIN_TOKEN });
    page = `/admin/withdrawals?link=${slug}&from=${today}&user_agent=loadtest`;
  });
  afterAll(() => service.stop());

  const total = async () => {
    type Answer = { analytics: { totalClicks: number } };
    return (await service.ask<Answer>(`/api/v1/analytics/${slug}`, { key })).body.analytics.totalClicks;
  };
  const fields = () => ({ link: slug, from: today, user_agent: "loadtest" });

  it("shows what would go, and tells what is wrong with the question", async () => {
    const { status, text } = await browser.get(page);
    expect(status).toBe(200);
    expect(text).toContain("What would go: 3 hits");
    expect(text).toContain("No hit of this link was ever withdrawn");
    expect(text).not.toContain("<b>loadtest");
    const unknown = await browser.get("/admin/withdrawals?link=nothing");
    expect(decoded(unknown.text)).toContain("Short link not found");
    expect((await browser.get("/admin/withdrawals?from=yesterday")).status).toBe(400);
  });

  it("withdraws with a reason, and takes it back", async () => {
    const unreasoned = await browser.follow(
      await browser.post("/admin/withdrawals", { ...fields(), reason: " " }),
    );
    expect(unreasoned.text).toContain("A reason has 1 to 500 characters");
    const made = await browser.follow(
      await browser.post("/admin/withdrawals", { ...fields(), reason: "Load <i>" }),
    );
    expect(made.text).toContain("3 hits no longer count");
    expect(decoded(made.text)).toContain("Load <i>");
    await until("the clicks to go", async () => (await total()) === 4, SELDOM);
    const again = await browser.follow(
      await browser.post("/admin/withdrawals", { ...fields(), reason: "again" }),
    );
    expect(again.text).toContain("withdrawn already");
    const [, id = ""] = /name="withdrawal_id" value="([^"]+)"/.exec(made.text) ?? [];
    const restored = { link: slug, withdrawal_id: id };
    const back = await browser.follow(await browser.post("/admin/withdrawals/restore", restored));
    expect(back.text).toContain("taken back");
    await until("the clicks to come back", async () => (await total()) === 7, SELDOM);
  });

  it("does the same as JSON, for the operator alone", async () => {
    const preview = await api.get<{ clicks: number }>("/withdrawals/preview", fields());
    expect(preview).toMatchObject({ clicks: 3, withdrawn_before: 0, kinds: { click: 3 } });
    const asked = { ...fields(), reason: "Load test" };
    const { status, body } = await api.post<{ withdrawal_id: string }>("/withdrawals", asked);
    expect([status, body]).toEqual([201, expect.objectContaining({ clicks: 3 })]);
    const restored = await api.post("/withdrawals/restore", {
      link: slug,
      withdrawal_id: body.withdrawal_id,
    });
    expect([restored.status, restored.body]).toEqual([200, expect.objectContaining({ restored: true })]);
    const unasked = await service.ask("/admin/api/withdrawals", { method: "POST", body: fields() });
    expect(unasked.status).toBe(401);
  });
});
