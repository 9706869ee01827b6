// Custom domains over real HTTP with a real name server on loopback: portal pages, `/`, and the TLS proxy's request.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recheckDomain } from "../../src/commands/domains/change-domains.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { operator } from "../support/commands/command-deps.ts";
import { visitor } from "../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../support/portal/portal-people.ts";
import { until } from "../support/runtime/until.ts";
import { type Answer, type LoopbackDns, openDns } from "../support/servers/loopback-dns.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const SECRET = "a-secret-of-the-proxy";

describe("custom domains", () => {
  let service: TestService;
  let people: ReturnType<typeof portalPeople>;
  let owner: Person;
  let dns: LoopbackDns;
  const zone = new Map<string, readonly Answer[] | "broken">();

  beforeAll(async () => {
    dns = await openDns((name) => zone.get(name));
    service = await startTestService({
      TRUST_PROXY: "127.0.0.1/32",
      DNS_SERVERS: dns.server,
      TLS_ASK_SECRET: SECRET,
    });
    people = portalPeople(service);
    owner = await people.developer();
  });
  afterAll(async () => {
    await service.stop();
    await dns.stop();
  });

  const pageOf = (host: string) => `/portal/domains/${host}`;
  const add = (host: string, by: Person = owner) => by.submit("/portal/domains", { hostname: host });
  const act = (host: string, action: string, by: Person = owner) =>
    by.submit(pageOf(host), {}, `${pageOf(host)}/${action}`);
  const tokenIn = (page: string) => /id="txt-value">([^<]+)</.exec(page)?.[1] ?? "";
  const ask = (path: string, headers: Record<string, string> = {}) =>
    service.ask(path, { host: "api:3000", headers });
  const mayHaveCertificate = async (name: string) =>
    (await ask(`/internal/tls/ask?domain=${name}`)).status === 200;

  async function verifiedDomain(host: string, by: Person = owner) {
    zone.set(`_linkledger.${host}`, [{ txt: tokenIn((await add(host, by)).text) }]);
    const { text } = await act(host, "verify", by);
    expect(text).toContain(`${host} is verified.`);
    const [domainId = ""] =
      /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(/id="domain-id">([^<]+)/.exec(text)?.[0] ?? "") ?? [];
    return domainId;
  }

  /** The status of making a link on the domain. */
  const made = async (key: string, domain_id: string, customSlug: string) =>
    (await service.post("/api/v1/shorten", key, { url: "https://example.com/", customSlug, domain_id }))
      .status;

  it("are named as people write them, beside their names in the DNS", async () => {
    const { text } = await add("go.bücher.example");
    expect(text).toContain("<h1>go.bücher.example</h1>");
    expect(text).toContain("go.xn--bcher-kva.example</code>");
    expect((await owner.get("/portal/domains")).text).toContain("<strong>go.bücher.example</strong>");
    const bank = await add("go.xn--pple-43d.example");
    expect(bank.text).toContain("<h1>go.xn--pple-43d.example</h1>");
  });

  it("show the records to set, say what DNS shows instead, and are verified by the record", async () => {
    const added = await add("Go.Example.com.");
    expect(added.text).toContain("_linkledger.go.example.com");
    expect((await act("go.example.com", "verify")).text).toMatch(/DNS has no TXT record/);
    zone.set("_linkledger.go.example.com", [{ txt: "something-else" }]);
    expect((await act("go.example.com", "verify")).text).toContain("shows “something-else” instead");
    zone.set("_linkledger.go.example.com", "broken");
    expect((await act("go.example.com", "verify")).text).toContain("could not be asked");
    zone.set("_linkledger.go.example.com", [{ txt: "spf" }, { txt: tokenIn(added.text) }]);
    expect((await act("go.example.com", "verify")).text).toContain("go.example.com is verified.");
  });

  it("serve links from the portal and the API, until deactivated, and again when activated", async () => {
    const domainId = await verifiedDomain("links.example.com");
    const { key } = await service.issueKey(owner.accountId);
    const body = { url: "https://example.com/launch", customSlug: "Launch", domain_id: domainId };
    expect((await service.post("/api/v1/shorten", key, body)).status).toBe(201);
    const follow = async () => (await service.ask("/launch", { host: "links.example.com" })).status;
    const isSaidToBeOff = async () =>
      (await owner.get("/portal/links/links.example.com/launch")).text.includes(
        "links.example.com is not active",
      ) && (await owner.get("/portal/links")).text.includes("Domain not active");
    expect([await follow(), await isSaidToBeOff()]).toEqual([301, false]);
    expect((await act("links.example.com", "deactivate")).text).toContain("Inactive");
    await until("404 from the domain", async () => (await follow()) === 404);
    expect(await isSaidToBeOff()).toBe(true);
    const page = "/portal/links/links.example.com/launch";
    const refused = await owner.submit(page, { url: "javascript:alert(1)" }, `${page}/edit`);
    expect([refused.status, refused.text.includes("links.example.com is not active")]).toEqual([400, true]);
    await act("links.example.com", "activate");
    await until("301 from the domain", async () => (await follow()) === 301);
    expect(await isSaidToBeOff()).toBe(false);
    await act("links.example.com", "remove");
    await until("404 from the domain", async () => (await follow()) === 404);
    expect(await isSaidToBeOff()).toBe(true);
    expect((await owner.get(pageOf("links.example.com"))).status).toBe(404);
  });

  it("have their id and their links back when they are removed, added and verified again", async () => {
    const host = "back.example.com";
    const domainId = await verifiedDomain(host);
    const { key } = await service.issueKey(owner.accountId);
    expect(await made(key, domainId, "back")).toBe(201);
    await act(host, "remove");
    expect(await verifiedDomain(host)).toBe(domainId);
    const { text } = await service.ask(`/api/v1/links?domain_id=${domainId}`, { key });
    expect(JSON.parse(text)).toMatchObject({ total: 1, links: [{ slug: "back", domain_id: domainId }] });
    expect(await made(key, domainId, "back-2")).toBe(201);
  });

  it("of another account now draw no QR code of a link of the account that had them before", async () => {
    const host = "moved.example.com";
    const domainId = await verifiedDomain(host);
    const { key } = await service.issueKey(owner.accountId);
    expect(await made(key, domainId, "moved")).toBe(201);
    const next = await people.developer();
    const nextId = await verifiedDomain(host, next);
    expect(nextId).not.toBe(domainId);
    const qr = async (id: string) => (await service.ask(`/api/qr/moved?domain_id=${id}`)).status;
    expect([await qr(domainId), await qr(nextId)]).toEqual([200, 404]);
  });

  it("that their owner deactivated are said to need their record again once it is gone", async () => {
    const host = "paused.example.com";
    const domainId = await verifiedDomain(host);
    await act(host, "deactivate");
    const deps = { ...runtimeDeps, eventStore: service.backend.eventStore, resolveTxt: async () => [] };
    await recheckDomain(deps, operator, owner.accountId, domainId);
    const page = async () => (await owner.get(pageOf(host))).text;
    await until("the warning", async () => (await page()).includes("has been missing since"));
    expect(await page()).toContain(
      "is inactive and its links answer 404. Set the record again, then verify.",
    );
  });

  it("lead `/` to a neutral page, or to where their owner says", async () => {
    await verifiedDomain("home.example.com");
    const root = () => service.ask("/", { host: "home.example.com" });
    await until("the neutral page", async () => (await root()).status === 200);
    expect((await root()).text).toContain("<h1>home.example.com</h1>");
    const set = (url: string) =>
      owner.submit(pageOf("home.example.com"), { url }, `${pageOf("home.example.com")}/home`);
    expect((await set("javascript:alert(1)")).text).toContain('aria-invalid="true"');
    await set("https://www.example.com/");
    await until("the new home", async () => (await root()).headers.location === "https://www.example.com/");
    expect((await root()).status).toBe(302);
  });

  it("get certificates only when verified and active", async () => {
    await add("waiting.example.com");
    await verifiedDomain("tls.example.com");
    await until("a certificate to be allowed", () => mayHaveCertificate("tls.example.com"));
    expect(await mayHaveCertificate("TLS.Example.com.")).toBe(true);
    for (const name of [
      "waiting.example.com",
      "unknown.example.com",
      "localhost",
      "",
      "*.example.com",
      "a".repeat(290),
    ])
      expect([name, await mayHaveCertificate(name)]).toEqual([name, false]);
    await act("tls.example.com", "deactivate");
    await until("no certificate to be allowed", async () => !(await mayHaveCertificate("tls.example.com")));
  });

  it("are shown to a TLS proxy on this machine or with the secret, and to nobody else", async () => {
    const path = "/internal/tls/ask?domain=nobody.example.com";
    const forwarded = { "x-forwarded-for": "203.0.113.7" };
    expect((await ask(path)).status).toBe(404);
    expect((await ask(path, forwarded)).status).toBe(403);
    expect((await ask(`${path}&secret=wrong`, forwarded)).status).toBe(403);
    expect((await ask(`${path}&secret=${SECRET}`, forwarded)).status).toBe(404);
  });

  it.each(["example", "co.uk", "10.1.2.3", "localhost", "a b.com", "<script>.com", "github.io"])(
    "can't be %s",
    async (host) => {
      const { text } = await add(host);
      expect(text).toContain("Invalid domain");
      expect(text).not.toContain("<script>.com");
    },
  );

  it("are nobody else's business, and need the Developer plan", async () => {
    await add("mine.example.com");
    const other = await people.developer();
    expect((await other.get(pageOf("mine.example.com"))).status).toBe(404);
    for (const action of ["verify", "activate", "deactivate", "remove", "home"]) {
      const answer = await other.submit("/portal/domains", {}, `${pageOf("mine.example.com")}/${action}`);
      expect([action, answer.status]).toEqual([action, 404]);
    }
    const free = await people.person();
    expect((await free.get("/portal/domains")).text).toContain("part of the Developer plan");
    expect((await visitor(service.port).get("/portal/domains")).status).toBe(303);
  });
});
