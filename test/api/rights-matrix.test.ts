// Every page and form of the portal, and every route of the API, by each role and by none: each answers by the one table of
// rights (commands/people/rights.ts), and says so in the same words.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SCOPES } from "../../src/api/route-scopes.ts";
import { may, RIGHT_OF_SCOPE, RIGHTS, type Right } from "../../src/commands/people/rights.ts";
import { KEY_SCOPES, ROLES, type Role } from "../../src/events/vocabulary.ts";
import { rightOf } from "../../src/portal/route-rights.ts";
import { type Visitor, visitor } from "../support/portal/browser-like.ts";
import { join } from "../support/portal/colleagues.ts";
import { type Person, portalPeople } from "../support/portal/portal-people.ts";
import { listPortalRoutes, type PortalRoute } from "../support/portal/portal-routes.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";
import { webhookOf } from "../support/webhooks/webhook-of.ts";

let service: TestService;
let people: ReturnType<typeof portalPeople>;
/** Of an account for each test: its limit of changes would not do for all. */
let owner: Person;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "loopback" });
  people = portalPeople(service);
});
beforeEach(async () => {
  owner = await people.developer();
});
afterAll(() => service.stop());

let addresses = 0;
const newcomer = () => visitor(service.port, { address: `203.0.113.${++addresses}` });
const colleague = async (role: Role, name: string = role) => {
  const one = newcomer();
  return { one, personId: await join(owner, one, `${name}@example.com`, role) };
};
const remove = (personId: string) => owner.post(`/portal/members/${personId}/remove`);

describe("every page and form of the portal", () => {
  /** Those that end what the next one needs are asked by who may not; a stream never ends for who may. */
  const LAST = /sign-out|end-all|close|leave|sessions|\/live$/;
  let routes: PortalRoute[];
  beforeAll(async () => {
    routes = (await listPortalRoutes()).filter(({ url }) => url.startsWith("/portal"));
  });

  const addressOf = ({ url }: PortalRoute) =>
    url
      .replace(":host", "localhost")
      .replace(/:\w+Id/g, () => crypto.randomUUID())
      .replace(/:\w+/g, "x");
  const ask = (one: Visitor, route: PortalRoute) =>
    route.method === "GET" ? one.get(addressOf(route)) : one.post(addressOf(route));
  const accessTo = (route: PortalRoute) => rightOf(`${route.method} ${route.url}`);
  const isRight = (access: string): access is Right => access in RIGHTS;

  it("is refused to each role that the table gives it not, and to no other", async () => {
    const roles = new Map<Role, Visitor>([["owner", owner]]);
    for (const role of ROLES.slice(1)) roles.set(role, (await colleague(role)).one);
    const refused = new Map<Role, number>();
    for (const route of routes)
      for (const [role, one] of roles) {
        const access = accessTo(route);
        const isAllowed = !isRight(access) || may(role, access);
        if (isAllowed && LAST.test(route.url)) continue;
        const { status, text } = await ask(one, route);
        const isRefused = status === 403 && text.includes("Your role in this account");
        expect([route.method, route.url, role, isRefused]).toEqual([
          route.method,
          route.url,
          role,
          !isAllowed,
        ]);
        if (isRefused) refused.set(role, (refused.get(role) ?? 0) + 1);
      }
    expect((await owner.get("/portal")).status).toBe(200);
    const wanted = ROLES.map((role) => {
      const rights = routes.map(accessTo).filter(isRight);
      return [role, rights.filter((right) => !may(role, right)).length || undefined] as const;
    });
    expect(wanted.map(([role]) => [role, refused.get(role)])).toEqual(wanted);
  });

  it("leads who is in no account to their accounts, and strangers to the sign-in; neither does anything", async () => {
    const { one: removed, personId } = await colleague("owner", "removed");
    await remove(personId);
    for (const [who, start] of [
      [removed, "/portal/accounts"],
      [newcomer(), "/portal/sign-in"],
    ] as const)
      for (const route of routes.filter((one) => isRight(accessTo(one)))) {
        const { status, headers } = await ask(who, route);
        const led = status === 303 && String(headers.location).startsWith(start);
        // A form that nobody fills in is refused for that, before anybody asks who sent it.
        const isOfForm = route.method === "POST" && [400, 404, 413].includes(status);
        expect([route.method, route.url, status, led || isOfForm]).toEqual([
          route.method,
          route.url,
          status,
          true,
        ]);
      }
  });
});

describe("every page and act of the console", () => {
  it("is not there for an owner, who is no operator", async () => {
    const routes = await listPortalRoutes(true);
    expect(routes.length).toBeGreaterThan(40);
    for (const { method, url } of routes) {
      const path = url.replace(/:\w+/g, owner.accountId);
      const { status } = method === "GET" ? await owner.get(path) : await owner.post(path);
      expect([method, url, status]).toEqual([method, url, 404]);
    }
  });
});

describe("every route of the API, by a person's own key with every scope", () => {
  it("answers by the person's role at the time of the request, and by none to who was removed", async () => {
    const { personId } = await colleague("owner", "with-a-key");
    const { key } = await service.issueKey(owner.accountId, { scopes: KEY_SCOPES, personId });
    // Refused for what it says or lacks, where it is let in; streams, too, which would go on.
    const ask = (route: string) => {
      const [method = "", path = ""] = route.split(" ");
      const address = path.replace(":slug", "nosuch0").replace(/:\w+/g, "x");
      const wrong = "after=no%20position&limit=nonsense&from=nonsense";
      return service.ask<{ code?: string }>(`${address}?${wrong}`, { method, key });
    };
    for (const role of ROLES) {
      await owner.post(`/portal/members/${personId}/role`, { role });
      // The portal has waited for its own process, which is the one that answers.
      for (const [route, scope] of Object.entries(SCOPES)) {
        const isRefused = (await ask(route)).body.code === "not_permitted";
        expect([route, role, isRefused]).toEqual([route, role, !may(role, RIGHT_OF_SCOPE[scope])]);
      }
    }
    await remove(personId);
    for (const route of Object.keys(SCOPES)) expect([route, (await ask(route)).status]).toEqual([route, 401]);
  });

  it("gives what is signed for a webhook to those alone who look after webhooks", async () => {
    const { webhookId } = await webhookOf(service.backend, owner.accountId, 8080);
    const { personId } = await colleague("editor", "listening");
    const { key } = await service.issueKey(owner.accountId, { personId });
    const status = async () =>
      (await service.ask(`/api/v1/webhooks/${webhookId}/deliveries/stream`, { method: "HEAD", key })).status;
    expect(await status()).toBe(403);
    await owner.post(`/portal/members/${personId}/role`, { role: "admin" });
    expect(await status()).toBe(200);
  });
});
