// Access control of the portal's forms and pages, tested on every registered route: forms of other sites, ownership, headers.
import { beforeAll, describe, expect, it } from "vitest";
import { currentAccounts } from "../../../src/commands/account/account-stream.ts";
import { addressIn } from "../../../src/portal/account-address.ts";
import { sessions } from "../../../src/portal/shell/sessions.ts";
import { issuedKey, PASSWORD, signedUp, type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { FORM_SENDERS, sendForm } from "../../support/portal/form-senders.ts";
import { listPortalRoutes, type PortalRoute } from "../../support/portal/portal-routes.ts";
import { writtenBy } from "../../support/portal/written-by.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

describe("every route of the portal", { timeout: 60_000 }, () => {
  let service: TestService;
  let owner: Visitor;
  let stranger: Visitor;
  let routes: PortalRoute[];
  let accountIds: string[];
  /** Path parameters that name the owner's resources. */
  let things: Record<string, string>;
  beforeAll(async () => {
    service = await startTestService();
    routes = await listPortalRoutes();
    owner = await signedUp(service.port, "owner@example.com");
    stranger = await signedUp(service.port, "stranger@example.com");
    const key = await issuedKey(owner);
    const { body: link } = await service.post("/api/v1/shorten", key, { url: "https://example.com/" });
    const sessionOf = (person: Visitor) =>
      sessions({
        ...service.backend,
        currentAccount: currentAccounts(service.backend.eventStore).current,
        clock: () => new Date(),
        ...{ signIn: ["password"], sessionHours: 720 },
      }).find(person.cookies.get("linkledger-session"));
    accountIds = await Promise.all(
      [owner, stranger].map(async (person) => String((await sessionOf(person))?.session?.accountId)),
    );
    // Both on the Developer plan, so that ownership is the only reason for a refusal.
    for (const accountId of accountIds) await service.changeTier(accountId, "developer");
    for (const person of [owner, stranger])
      await until("the Developer plan", async () =>
        (await person.get("/portal/webhooks")).text.includes("Add a webhook"),
      );
    const sessionId = String((await sessionOf(owner))?.session?.sessionId);
    await owner.submit("/portal/webhooks", { url: "https://hooks.example.com/", kinds: "click" });
    const webhooks = await owner.get("/portal/webhooks");
    const [, webhookId = ""] = /\/portal\/webhooks\/([0-9a-f-]{36})/.exec(webhooks.text) ?? [];
    const delivery = { webhookId, eventId: crypto.randomUUID(), event: "link.clicked", body: "{}" };
    await service.backend.deliveryQueue.enqueue([delivery], new Date().toISOString());
    const [, keyId = ""] =
      /\/portal\/keys\/([^/]+)\/deactivate/.exec((await owner.get("/portal/keys")).text) ?? [];
    const hostname = "own.example.org";
    await service.domain(String((await sessionOf(owner))?.session?.accountId), hostname);
    await until("the domain", async () => (await owner.get(`/portal/domains/${hostname}`)).status === 200);
    const { body: page } = await service.post("/api/v1/shared-pages", key, { name: "Owner's" });
    things = {
      host: "localhost",
      hostname,
      action: "deactivate",
      slug: String(link.slug),
      keyId,
      ...{ sessionId, webhookId, eventId: delivery.eventId },
      invitationId: crypto.randomUUID(),
      personId: String(accountIds[0]),
      pageId: String(page.page_id),
      ...{ mailId: crypto.randomUUID(), passkeyId: crypto.randomUUID() },
      token: "x",
      version: "x",
      file: "x",
    };
    return () => service.stop();
  }, 120_000);

  const addressOf = ({ url }: PortalRoute) =>
    url.replace(/:(\w+)/g, (_, name: string) => {
      const thing = things[name];
      if (!thing) throw new Error(`what stands for :${name}?`);
      return thing;
    });
  const posts = () => routes.filter(({ method }) => method !== "GET");
  const withThings = () => routes.filter(({ url }) => url.includes("/:") && !url.includes("/assets/"));

  it("that changes anything refuses each form that a browser sends from another site, and no other", async () => {
    expect(posts().length).toBeGreaterThan(15);
    const { eventStore } = service.backend;
    const before = await eventStore.head();
    // All routes share the check: every sender on the first of them, a few on each.
    const few = FORM_SENDERS.filter((_, n) => [0, 2, FORM_SENDERS.length - 1].includes(n));
    for (const [n, route] of posts().entries()) {
      const path = addressOf(route);
      for (const from of n === 0 ? FORM_SENDERS : few) {
        const cookie = from.isOwn ? "" : owner.cookie();
        const { status, body } = await sendForm(service.port, path, from.headers, cookie);
        const isRefused = status === 403 && body.code === "form_refused";
        expect([path, from.headers, isRefused]).toEqual([path, from.headers, !from.isOwn]);
      }
    }
    expect(await writtenBy(eventStore, accountIds, before)).toEqual([]);
    expect((await owner.get("/portal/account")).status).toBe(200);
  });

  it("that names a thing of another account answers 403 or 404, and changes nothing", async () => {
    expect(withThings().length).toBeGreaterThan(5);
    const { eventStore } = service.backend;
    const before = await eventStore.head();
    for (const route of withThings()) {
      const { status } =
        route.method === "GET"
          ? await stranger.get(addressOf(route))
          : await stranger.post(addressOf(route), { url: "https://example.com/stolen", role: "viewer" });
      expect([route.method, route.url, [403, 404].includes(status)]).toEqual([route.method, route.url, true]);
    }
    expect(await writtenBy(eventStore, accountIds, before)).toEqual([]);
    expect((await owner.get("/portal/account")).status).toBe(200);
  });

  it("that refuses a field says so beside it, keeps what was typed, and says nothing above", async () => {
    await owner.submit("/portal/links", { url: "https://example.com/tagged", tags: "old" });
    await until("the tag", async () => (await owner.get("/portal/tags")).text.includes("Edit the tag old"));
    const webhook = { url: "https://hooks.example.com/", kinds: "click" };
    const cases: [path: string, typed: Record<string, string>, id: string][] = [
      ["/portal/domains", { hostname: "x y" }, "field-hostname"],
      ["/portal/domains/own.example.org/home", { url: "ftp://x" }, "field-url"],
      ["/portal/keys", { label: "K", scopes: "" }, "field-scopes"],
      ["/portal/keys", { label: "K", networks: "nowhere" }, "field-networks"],
      ["/portal/webhooks", { ...webhook, url: "ftp://x" }, "field-url"],
      ["/portal/webhooks", { ...webhook, events: "" }, "field-events"],
      ["/portal/webhooks", { ...webhook, events: "nonsense" }, "field-events"],
      ["/portal/webhooks", { ...webhook, domains: "elsewhere.example" }, "field-domains"],
      ["/portal/tags", { tag: "old", name: "x".repeat(60) }, "name-old"],
      ["/portal/links/many", { list: "\n" }, "field-list"],
      ["/portal/account/brand", { name: "N", colour: "#123456", url: "ftp://x" }, "brand-url"],
      ["/portal/shared", { name: "Mine", ends: "2020-01-01" }, "field-ends"],
      ["/portal/account/time-zone", { timezone: "Nowhere" }, "own-zone"],
      ["/portal/profile/email", { email: "nobody", password: PASSWORD }, "new-email"],
    ];
    for (const [path, typed, id] of cases) {
      // As pages send it, with the account in the address.
      const { status, text } = await owner.post(addressIn(String(accountIds[0]), path), typed);
      expect([path, typed, status]).toEqual([path, typed, 400]);
      const errors = [...text.matchAll(/class="error" id="([^"]+)-error"/g)].map(([, at]) => at);
      expect([path, typed, errors]).toEqual([path, typed, [id]]);
      expect(text).not.toContain("notice-failed");
      expect(text).not.toContain(PASSWORD);
      const kept = Object.values({ ...typed, password: "" }).filter(
        (value) => value.trim() && !/^no(where|nsense)$/i.test(value),
      );
      for (const value of kept) expect(text).toContain(`value="${value}"`);
    }
  });

  it("that is answered by a page has a switch of colours that stays on it", async () => {
    const person = await signedUp(service.port, "colours@example.com");
    const shown = await person.submit("/portal/keys", { label: "shown once" });
    expect(shown.text).toMatch(/ll_[A-Za-z0-9]{32}/);
    const refused = await person.submit("/portal/webhooks", { url: "nonsense" });
    for (const { text } of [shown, refused]) {
      expect(text).toMatch(/action="\/portal\/theme" data-stays>/);
      expect(text).not.toContain('name="next"');
    }
    const stayed = await person.post("/portal/theme", { theme: "dark" });
    expect([stayed.status, stayed.text]).toEqual([204, ""]);
    const { text } = await person.get("/portal/keys");
    expect(text).toContain('data-theme="dark"');
    expect(text).toMatch(/action="\/portal\/theme" >[\s\S]*name="next" value="\/portal\/keys"/);
  });

  it("that switches the colours leads back to its page, also to the landing page with a query", async () => {
    const person = visitor(service.port);
    for (const [next, to] of [
      ["/?utm_source=news", "/"],
      ["/", "/"],
      ["/portal/sign-in?next=%2Fportal%2Fkeys", "/portal/sign-in?next=%2Fportal%2Fkeys"],
      ["//evil.example/?", "/portal"],
    ] as const)
      expect((await person.post("/portal/theme", { theme: "dark", next })).headers.location).toBe(to);
  });

  it("that reads a form says so to who sends JSON, or too much", async () => {
    const json = { accept: "text/html", "content-type": "application/json" };
    const sent = (headers: Record<string, string>, body: string) =>
      service.ask<string>("/portal/sign-in", { method: "POST", headers, body });
    expect((await sent(json, "{}")).text).toContain("application/x-www-form-urlencoded");
    const form = { ...json, "content-type": "application/x-www-form-urlencoded" };
    expect((await sent(form, `email=${"x".repeat(70_000)}`)).text).toContain("forms may have 64 KiB");
  });

  it("that belongs to an account sends who isn't signed in to sign in", async () => {
    const open =
      /^\/(status|shared\/:token|mails\/stop\/:token|portal\/(sign-|signed-out|reset|assets|theme|profile\/email\/confirm|invitation).*)?$/;
    for (const route of routes.filter(({ method, url }) => method === "GET" && !open.test(url))) {
      const { status, headers } = await visitor(service.port).get(addressOf(route));
      expect([route.url, status, headers.location]).toEqual([
        route.url,
        303,
        expect.stringMatching(/^\/portal\/sign-in\?next=%2Fportal/),
      ]);
    }
  });

  it("that shows a page allows our own scripts and styles only, no frame, no cache, and holds none inline", async () => {
    const pages = routes.filter(
      ({ method, url }) =>
        method === "GET" && !/assets|export|live|finish|choose|confirm|invitation/.test(url),
    );
    expect(pages.length).toBeGreaterThan(9);
    for (const route of pages)
      for (const person of [owner, visitor(service.port)]) {
        const { headers, text } = await person.get(addressOf(route));
        expect([route.url, headers["content-security-policy"]]).toEqual([
          route.url,
          expect.stringMatching(/^default-src 'self';/),
        ]);
        expect(headers["content-security-policy"]).not.toMatch(/unsafe|\*|https?:/);
        expect(headers["content-security-policy"]).toMatch(/frame-ancestors 'none'/);
        expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "x-frame-options": "DENY" });
        expect(text).not.toMatch(/<script(?![^>]* src=")|<style|\sstyle=|\son\w+=|javascript:/i);
        if (text !== "") expect([route.url, headers["cache-control"]]).toEqual([route.url, "no-store"]);
      }
  });

  it("that serves a style or script may be kept for a year, under an address of its content", async () => {
    const { text } = await owner.get("/portal/keys");
    const files = [...text.matchAll(/(?:href|src)="(\/portal\/assets\/[^"]+)"/g)].map(
      ([, path = ""]) => path,
    );
    expect(files.length).toBeGreaterThan(2);
    for (const path of files) {
      const { status, headers } = await owner.get(path);
      expect([path, status, headers["cache-control"]]).toEqual([
        path,
        200,
        "public, max-age=31536000, immutable",
      ]);
    }
    const [path = ""] = files;
    const stale = await owner.get(path.replace(/assets\/[^/]+/, "assets/older"));
    expect(stale.headers["cache-control"]).not.toContain("immutable");
    expect((await owner.get(path.replace(/[^/]+$/, "../portal.ts"))).status).toBe(404);
    expect((await owner.get(path.replace(/[^/]+$/, "..%2Fportal.ts"))).status).toBe(404);
  });
});
