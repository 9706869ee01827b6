// The console's JSON API over real HTTP: who is let in, what it answers, and what it lets the operator do.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, operatorOf } from "../../support/portal/operator.ts";
import { until } from "../../support/runtime/until.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

type Row = {
  name: string;
  state: string;
  building: object | null;
  active: { build: number };
  previous: { build: number } | null;
  set_aside: { count: number; events: object[] };
};
type Events = { events: { stream: string; revision: number; type: string; position: string }[]; next: null };

describe("the console's API", { timeout: 60_000 }, () => {
  let service: TestService;
  let operator: ReturnType<typeof operatorOf>;
  let member: Member;
  let slug: string;
  let stream: string;

  beforeAll(async () => {
    service = await startTestService({ ADMIN_TOKEN, TRUST_PROXY: "127.0.0.1" });
    operator = operatorOf(service);
    member = await service.member("developer");
    const created = await service.post<{ slug: string }>(
      "/api/v1/shorten",
      member.key,
      { url: "https://example.com/one" },
      { headers: { "x-request-id": "an-auditors-thread" } },
    );
    ({ slug } = created.body);
    stream = `link-localhost/${slug}`;
    for (let n = 0; n < 3; n++) await service.ask(`/${slug}`);
    await until("the index", async () => (await found({ account: member.accountId })).length === 3);
  });
  afterAll(() => service.stop());

  const found = async (query: Record<string, string>) =>
    (await operator.get<Events>("/events", query)).events;
  const row = async (name: string) => {
    const { projections } = await operator.get<{ projections: Row[] }>("/projections");
    return projections.find((one) => one.name === name) as Row;
  };

  it("lets in the token alone, and says nothing else to anybody", async () => {
    const paths = ["streams", "stream", "event", "state", "events", "log", "clicks", "seals", "projections"];
    for (const path of [...paths, "verification"]) {
      const answer = await service.ask<{ code: string }>(`/admin/api/${path}`);
      expect([path, answer.status, answer.body.code]).toEqual([path, 401, "invalid_admin_token"]);
    }
    const acts = ["/projections/lifecycle/rebuild", "/verification"];
    for (const path of acts) {
      const headers = { authorization: "Bearer operator-0123456789abcdef012345678X" };
      const answer = await service.ask(`/admin/api${path}`, { method: "POST", headers, body: {} });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    const withKey = await service.ask("/admin/api/streams", { key: member.key });
    expect(withKey.status).toBe(401);
    const elsewhere = await operator.ask("/streams", { host: "elsewhere.example" });
    expect(elsewhere.status).toBe(404);
    expect((await operator.ask("/streams")).headers["cache-control"]).toBe("no-store");
  });

  it("stops an address from guessing, also when it guesses right then", async () => {
    const ask = (token: string, address: string) =>
      service.ask("/admin/api/streams", {
        headers: { authorization: `Bearer ${token}`, "x-forwarded-for": address },
      });
    for (let n = 0; n < 15; n++) expect((await ask(`wrong-${n}`, "203.0.113.7")).status).toBe(401);
    const refused = await ask(ADMIN_TOKEN, "203.0.113.7");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3_000);
    expect((await ask(ADMIN_TOKEN, "203.0.113.8")).status).toBe(200);
  });

  it("lists streams by category and account, newest first, page by page", async () => {
    const { streams, next } = await operator.get<{ streams: object[]; next: null }>("/streams", {
      category: "link",
    });
    expect(streams).toMatchObject([
      { stream, account: member.accountId, events: 1, last_type: "LinkCreated" },
    ]);
    expect(next).toBeNull();
    const other = await service.member("free");
    await until("the other account", async () => (await found({ account: other.accountId })).length === 2);
    const page = (cursor?: string) =>
      operator.get<{ streams: { stream: string }[]; next: string }>("/streams", {
        category: "account",
        limit: "1",
        ...(cursor ? { cursor } : {}),
      });
    const first = await page();
    expect(first.streams.map((one) => one.stream)).toEqual([`account-${other.accountId}`]);
    const second = await page(first.next);
    expect(second.streams.map((one) => one.stream)).toEqual([`account-${member.accountId}`]);
    expect(second.next).toBeNull();
    const ofOther = { category: "link", account: other.accountId };
    expect(await operator.get("/streams", ofOther)).toMatchObject({ streams: [] });
    await until("the clicks", async () => {
      const { hours } = await operator.get<{ hours: { clicks: number }[] }>("/streams", {
        category: "clicks",
      });
      return hours.reduce((sum, { clicks }) => sum + clicks, 0) === 3;
    });
  });

  it("finds events by key, account, correlation id, type, time and position, and by all of them", async () => {
    const [created] = await found({ correlation_id: "an-auditors-thread" });
    expect(created).toMatchObject({ stream, revision: 0, type: "LinkCreated" });
    expect(await found({ actor: `key:${member.keyId}` })).toEqual([created]);
    expect(await found({ account: member.accountId, type: "LinkCreated" })).toEqual([created]);
    const all = await found({ account: member.accountId });
    expect(all.map(({ type }) => type)).toEqual(["LinkCreated", "KeyIssued", "AccountOpened"]);
    const before = { account: member.accountId, up_to: all[1]?.position ?? "" };
    expect((await found(before)).map(({ type }) => type)).toEqual(["KeyIssued", "AccountOpened"]);
    expect(await found({ ...before, category: "link" })).toEqual([]);
    const [day, next] = [0, 86_400_000].map((later) => new Date(Date.now() + later).toISOString());
    expect(await found({ from: next as string })).toEqual([]);
    expect(await found({ account: member.accountId, to: next as string, actor: "operator" })).toHaveLength(2);
    expect(await found({ account: member.accountId, from: day as string })).toEqual([]);
    const refused = await operator.ask<{ code: string }>("/events?up_to=99999999999999999999");
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_position"]);
    expect((await operator.ask("/events?from=yesterday")).status).toBe(400);
    for (const unknown of ["/events?type=nonsense", "/events?category=seals", "/clicks?after=bad"])
      expect([unknown, (await operator.ask(unknown)).status]).toEqual([unknown, 400]);
    expect((await operator.ask("/events?cursor=nonsense")).status).toBe(400);
  });

  it("shows one event explained, and nothing that is internal", async () => {
    const name = `account-${member.accountId}`;
    const event = await operator.get("/event", { stream: name, revision: "1" });
    expect(event).toMatchObject({
      ...{ type: "KeyIssued", stream: name, revision: 1, schema_version: 1, actor: { type: "operator" } },
      ...{ summary: "An API key was issued.", withheld: ["keyHash"] },
      data: { keyId: member.keyId, keyHash: "(withheld)" },
    });
    const { fields } = event as { fields: { name: string; value: unknown; about: string }[] };
    expect(fields).toContainEqual({
      ...{ name: "keyId", value: member.keyId },
      about: "The API key's id, which is not the key",
    });
    const { events } = await operator.get<{ events: object[] }>("/stream", { name });
    expect(events).toMatchObject([{ type: "KeyIssued" }, { type: "AccountOpened" }]);
    expect(await operator.get("/stream", { name, before: "1" })).toMatchObject({
      events: [{ revision: 0 }],
      next: null,
    });
    expect(JSON.stringify([event, events])).not.toMatch(/[0-9a-f]{64}/);
    const missing = [`/event?stream=${name}&revision=99`, "/stream?name=link-localhost/none", "/event"];
    const statuses = await Promise.all(missing.map(async (path) => (await operator.ask(path)).status));
    expect(statuses).toEqual([404, 404, 400]);
  });

  it("shows the state of a stream as of a revision, and the difference to another", async () => {
    expect(await operator.get("/state", { stream })).toMatchObject({
      ...{ revision: 0, against: -1, last_revision: 0, has_state: true, before: null },
      state: { status: "live", longUrl: "https://example.com/one" },
    });
    const account = await operator.get<{ changes: object[] }>("/state", {
      stream: `account-${member.accountId}`,
      revision: "1",
    });
    expect(account.changes).toContainEqual({
      ...{ path: `keys.${member.keyId}.status`, before: null, after: "active" },
    });
    expect((await operator.ask(`/state?stream=${stream}&revision=9`)).status).toBe(404);
  });

  it("reads the log from a position on, and finds clicks by link, account and hour", async () => {
    const { events } = await operator.get<Events>("/log", { limit: "2" });
    const second = events[1] as Events["events"][0];
    const from = await operator.get<Events>("/log", { from: second.position, limit: "1" });
    expect(from.events).toEqual([second]);
    const asShown = second.position.replace(/^0+/, "");
    expect(await operator.get("/log", { from: asShown, limit: "1" })).toEqual(from);
    expect(await operator.get("/events", { up_to: asShown })).toEqual(
      await operator.get("/events", { up_to: second.position }),
    );
    type Clicks = { events: { data: { link: string; ip: string } }[]; next: string | null };
    const clicks = (query: Record<string, string>) => operator.get<Clicks>("/clicks", query);
    await until("the clicks", async () => (await clicks({ link: `localhost/${slug}` })).events.length === 3);
    const page = await clicks({ account: member.accountId, limit: "2" });
    expect(page.events).toHaveLength(2);
    const rest = await clicks({ account: member.accountId, after: page.next ?? "" });
    expect(rest.events).toHaveLength(1);
    for (const link of [slug, `http://localhost/${slug.toUpperCase()}`])
      expect([link, (await clicks({ link })).events.length]).toEqual([link, 3]);
    expect((await operator.ask("/clicks?link=localhost/")).status).toBe(400);
    expect((await operator.ask("/clicks?link=localhost/other")).status).toBe(404);
    expect((await clicks({ from: "2020-01-01", to: "2020-01-02" })).events).toEqual([]);
  });

  it("rebuilds and rolls back, each as an event of the operator", async () => {
    expect((await operator.post("/projections/lifecycle/rebuild")).status).toBe(202);
    await until("the switch", async () => (await row("lifecycle")).active.build === 1);
    expect((await operator.post("/projections/lifecycle/rollback")).status).toBe(202);
    await until("the switch back", async () => (await row("lifecycle")).active.build === 0);
    const refusals = await Promise.all(
      ["clicks/rollback", "none/rebuild", "lifecycle/explode"].map(
        async (path) => (await operator.post<{ code: string }>(`/projections/${path}`)).status,
      ),
    );
    expect(refusals).toEqual([409, 404, 400]);
    await until("the acts", async () => (await found({ category: "operator" })).length === 2);
    const acts = await found({ actor: "operator", category: "operator" });
    expect(acts.map(({ type }) => type)).toEqual(["ProjectionRolledBack", "ProjectionRebuildRequested"]);
  });

  it("names an event that can't be read in the projections, and shows what there is of it", async () => {
    const metadata = {
      ...{ schemaVersion: 1, correlationId: "c", causationId: "c" },
      actor: { type: "operator" } as const,
    };
    const bad = { id: crypto.randomUUID(), type: "LinkPraised", data: { by: "all" }, metadata };
    const { position } = await service.backend.eventStore.append("link-localhost/bad", "none", [bad]);
    const event = { position, stream: "link-localhost/bad", revision: 0, type: "LinkPraised" };
    await until("the note", async () => (await row("lifecycle")).set_aside.count === 1);
    expect((await row("lifecycle")).set_aside.events).toMatchObject([event]);
    expect(await row("lifecycle")).toMatchObject({ state: "current", waits_for: null });
    expect((await row("clicks")).set_aside).toEqual({ count: 0, events: [] });
    const shown = await operator.get("/event", { stream: event.stream, revision: "0" });
    expect(shown).toMatchObject({ ...event, error: expect.stringContaining("no such type") });
    const named = async () =>
      (await operator.get<{ set_aside: object[] }>("/events", { category: "link" })).set_aside;
    await until("the note among the events", async () => (await named()).length === 1);
    expect(await named()).toMatchObject([event]);
    expect((await service.ask("/health/ready")).status).toBe(200);
  });

  it("verifies the log in the background, and keeps the result in the log", async () => {
    expect(await operator.get("/verification")).toEqual({ verification: null });
    const started = await operator.post("/verification", {});
    expect(started.body).toMatchObject({ verification: { state: "running" } });
    type Run = { verification: { state: string; events: number; result: object } };
    const run = async () => (await operator.get<Run>("/verification")).verification;
    await until("the end", async () => (await run()).state === "done");
    expect(await run()).toMatchObject({ result: { ok: false, problem_count: 1 } });
    expect((await run()).events).toBeGreaterThan(8);
    await until("the event", async () => (await found({ type: "LogVerified" })).length === 1);
    expect(await operator.get("/seals")).toMatchObject({ seals: [], public_key: expect.any(String) });
  });

  it("is not there without ADMIN_TOKEN", async () => {
    const plain = await startTestService();
    try {
      for (const path of ["/admin", "/admin/", "/admin/sign-in", "/admin/api/streams"])
        expect([path, (await plain.ask(path)).status]).toEqual([path, 404]);
      const headers = { authorization: "Bearer undefined" };
      expect((await plain.ask("/admin/api/streams", { headers })).status).toBe(404);
    } finally {
      await plain.stop();
    }
  });
});
