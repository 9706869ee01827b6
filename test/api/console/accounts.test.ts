// Accounts in the console over real HTTP: found by whatever names them, shown, and what the operator does with them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decoded, signedUp, type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { ADMIN_TOKEN, operatorOf } from "../../support/portal/operator.ts";
import { until } from "../../support/runtime/until.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

const EMAIL = "member-1@example.com";

type Details = {
  account_id: string;
  email: string | null;
  tier: string;
  status: string;
  links: number;
  newest_links: { short_url: string }[];
  keys: { key_id: string; status: string; last_used_at: string | null }[];
  domains: { hostname: string }[];
  upgrade_asked_at: string | null;
};

describe("accounts in the console", { timeout: 60_000 }, () => {
  let service: TestService;
  let operator: Visitor;
  let api: ReturnType<typeof operatorOf>;
  let member: Member;
  let shortUrl: string;
  let path: string;

  beforeAll(async () => {
    service = await startTestService({ ADMIN_TOKEN });
    api = operatorOf(service);
    member = await service.member("developer");
    path = `/admin/accounts/${member.accountId}`;
    await service.domain(member.accountId, "go.example.com");
    const url = "https://example.com/<sale>";
    const { body } = await service.post<{ short_url: string }>("/api/v1/shorten", member.key, { url });
    shortUrl = body.short_url;
    await service.post("/api/v1/shared-pages", member.key, { name: "For the boss", password: "open sesame" });
    operator = visitor(service.port);
    await operator.submit("/admin/sign-in", { token: ADMIN_TOKEN });
    await until("the index", async () => (await eventsOf(EMAIL)).includes("LinkCreated"));
  });
  afterAll(() => service.stop());

  const eventsOf = async (account: string) => {
    const found = await api.get<{ events: { type: string }[] }>("/events", { account });
    return found.events.map(({ type }) => type);
  };
  const details = () => api.get<Details>(`/accounts/${member.accountId}`);
  const act = async (fields: Record<string, string>) => operator.submit(path, fields);

  it("finds an account by e-mail, id, key id, hostname and short URL, in each form and as JSON", async () => {
    const slug = new URL(shortUrl).pathname.slice(1);
    const names = [
      ` ${EMAIL.toUpperCase()}`,
      member.accountId,
      member.keyId,
      "go.example.com",
      "https://go.example.com/",
    ];
    for (const name of [...names, shortUrl, `localhost/${slug}`, slug]) {
      const asked = encodeURIComponent(name);
      expect([name, (await operator.get(`/admin/accounts?find=${asked}`)).headers.location]).toEqual([
        name,
        path,
      ]);
      expect(await api.get(`/accounts/${asked}`)).toMatchObject({ account_id: member.accountId });
      const { accounts } = await api.get<{ accounts: Details[] }>("/accounts", { find: name });
      expect(accounts).toMatchObject([{ email: EMAIL }]);
      expect((await operator.get(`/admin/streams?category=link&account=${asked}`)).text).toContain(slug);
      expect((await operator.get(`/admin/events?account=${asked}`)).text).toContain("LinkCreated");
      expect((await operator.get(`/admin/clicks?account=${asked}`)).text).toContain("None was recorded");
    }
  });

  it("says that there is no such account, and keeps what was typed", async () => {
    for (const page of ["accounts?find", "streams?account", "events?account", "clicks?account"]) {
      const { text } = await operator.get(`/admin/${page}=nobody%40example.com`);
      expect(decoded(text)).toContain("No account is found by “nobody@example.com”.");
      expect(decoded(text)).toContain('value="nobody@example.com"');
    }
    for (const name of [
      "nobody@example.com",
      "https://",
      "localhost/none",
      "none",
      "a b",
      "none.example.com",
    ]) {
      const answer = await api.ask<{ code: string }>(`/accounts/${encodeURIComponent(name)}`);
      expect([name, answer.status, answer.body.code]).toEqual([name, 404, "not_found"]);
    }
  });

  it("shows what an account has, and lists all", async () => {
    const { text } = await operator.get(path);
    for (const shown of [EMAIL, shortUrl, "go.example.com", "For the boss", "Close this account for good"])
      expect(decoded(text)).toContain(shown);
    expect(text).not.toContain("<sale>");
    expect((await operator.get("/admin/accounts")).text).toContain(path);
    expect(await details()).toMatchObject({
      ...{ email: EMAIL, tier: "developer", status: "open", links: 1, upgrade_asked_at: null },
      keys: [{ key_id: member.keyId, status: "active", last_used_at: expect.stringContaining("T") }],
      domains: [{ hostname: "go.example.com" }],
      newest_links: [{ short_url: shortUrl }],
      shared_pages: [{ name: "For the boss", has_password: true, ends_at: null }],
      weekly_mails: [],
    });
  });

  it("changes the tier, and approves who asked for the Developer plan", async () => {
    expect((await act({ act: "tier", tier: "free" })).text).toContain("on the other plan from now on");
    expect((await details()).tier).toBe("free");
    const person = await signedUp(service.port, "waits@example.com");
    await person.submit("/portal/plan", {}, "/portal/plan/upgrade");
    const page = decoded((await operator.get("/admin/accounts")).text);
    expect(page).toContain("Waiting for the Developer plan");
    const [, action = ""] = /action="(\/admin\/accounts\/[^"]+)"/.exec(page) ?? [];
    await operator.submit("/admin/accounts", { act: "tier", tier: "developer" }, action);
    expect((await operator.get("/admin/accounts")).text).not.toContain("Waiting for the Developer plan");
    const approved = await api.get<Details>("/accounts/waits@example.com");
    expect(approved).toMatchObject({ tier: "developer", upgrade_asked_at: null });
  });

  it("deactivates a key at once", async () => {
    const { key, keyId } = await service.issueKey(member.accountId);
    await act({ act: "deactivate-key", key_id: keyId });
    expect((await service.ask("/api/v1/links", { key })).status).toBe(401);
    const unknown = await act({ act: "deactivate-key", key_id: crypto.randomUUID() });
    expect(unknown.text).toContain("API key not found");
  });

  it("closes an account when its address or id is typed, and shows each act among the operator's", async () => {
    const kept = await act({ act: "close", confirm: "yes" });
    expect(kept.text).toContain("The account stays open");
    const closed = await api.post<Details>(`/accounts/${EMAIL}`, { act: "close", confirm: EMAIL });
    expect(closed.body).toMatchObject({ status: "closed", email: null });
    expect((await service.ask("/api/v1/links", { key: member.key })).status).toBe(401);
    const { text } = await operator.get(path);
    expect(text).not.toContain("Close this account for good");
    expect((await act({ act: "tier", tier: "developer" })).text).toContain("Account not found");
    await until("the acts", async () => {
      const overview = (await operator.get("/admin")).text;
      return ["TierChanged", "KeyDeactivated", "AccountClosed"].every((type) => overview.includes(type));
    });
  });

  it("is the operator's alone", async () => {
    expect((await service.ask("/admin/api/accounts")).status).toBe(401);
    expect((await visitor(service.port).get(path)).headers.location).toMatch(/^\/admin\/sign-in/);
    const close = { act: "close", confirm: member.accountId };
    expect((await visitor(service.port).post(path, close)).headers.location).toBe("/admin/sign-in");
  });
});
