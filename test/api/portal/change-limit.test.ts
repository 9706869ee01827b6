// The hourly limit of an account's changes in the portal, tested on every registered route.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PASSWORD as password } from "../../support/portal/browser-like.ts";
import { sendForm } from "../../support/portal/form-senders.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { listPortalRoutes, type PortalRoute } from "../../support/portal/portal-routes.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

/** In place of 50 and 500, so that a few requests reach them. */
const AN_HOUR = 6;
const OF_DEVELOPERS = 12;
/** Routes that still answer when the limit is used up, with their status for an empty form. */
const STILL_POSSIBLE: Record<string, number> = {
  // Only sets a cookie.
  "/portal/theme": 400,
  // Allowed at any time (interface, part 5); the key in the path belongs to nobody.
  "/portal/keys/:keyId/deactivate": 404,
  // Limited by password attempts.
  "/portal/profile/password": 403,
  "/portal/profile/password/remove": 403,
  "/portal/account/close": 403,
  // Need no session; limited by address, or guarded by a mailed token.
  "/portal/profile/email/confirm": 404,
  "/portal/sign-in": 401,
  "/portal/sign-in/passkey/begin": 200,
  "/portal/sign-in/passkey": 403,
  "/portal/sign-in/link": 404,
  "/portal/sign-up": 400,
  "/portal/reset/choose": 404,
  "/portal/sign-up/finish": 404,
  "/portal/invitation": 404,
  "/portal/invitation/accept": 404,
  // Which account is looked at.
  "/portal/accounts": 409,
  // Says what this browser shows.
  "/portal/news/dismiss": 303,
  // There are no more of them than were made.
  "/portal/shared/:pageId/end": 404,
  "/portal/shared/mails/:mailId/stop": 404,
  // Of strangers, limited by address.
  "/shared/:token": 404,
  "/mails/stop/:token": 404,
  // Show what a link or its QR code will be, and save nothing.
  "/portal/links/new": 200,
  "/portal/links/:host/:slug/qr/show": 404,
  "/portal/links/:host/:slug/draft": 404,
  // Ends sessions; last, because the second route ends the current one.
  "/portal/profile/sessions/:sessionId/end": 404,
  "/portal/profile/sessions/end-all": 303,
  "/portal/sign-out": 303,
};

describe("changes in the portal", { timeout: 60_000 }, () => {
  let service: TestService;
  let people: ReturnType<typeof portalPeople>;
  let now = Date.parse("2026-05-01T12:05:00.000Z");
  beforeAll(async () => {
    const limits = { RATE_LIMIT_FREE: `${AN_HOUR}`, RATE_LIMIT_DEVELOPER: `${OF_DEVELOPERS}` };
    service = await startTestService({ TRUST_PROXY: "loopback", ...limits }, () => new Date(now));
    people = portalPeople(service);
  });
  afterAll(() => service.stop());

  /** Repeats the cheapest changes, of the account and of the person, until they are refused. */
  async function useUp(person: Person): Promise<void> {
    for (const url of ["/portal/plan/withdraw", "/portal/profile/name"])
      for (let n = 0; n < AN_HOUR; n++) expect((await person.post(url)).status, `change ${n}`).toBe(303);
  }

  const eventsOf = async ({ accountId }: Person, type: string) =>
    (await service.backend.eventStore.read(`account-${accountId}`)).filter((event) => event.type === type);

  it("let an account issue as many keys an hour as its plan allows, in a loop that deactivates each, and no more", async () => {
    const person = await people.person();
    for (let n = 0; n < AN_HOUR + 2; n++) {
      const { status } = await person.post("/portal/keys", { label: `${n}` });
      const issued = (await eventsOf(person, "KeyIssued")).at(-1)?.data as { keyId: string };
      const off = await person.post(`/portal/keys/${issued.keyId}/deactivate`);
      expect([n, status, off.status]).toEqual([n, n < AN_HOUR ? 200 : 429, 303]);
    }
    expect(await eventsOf(person, "KeyIssued")).toHaveLength(AN_HOUR);
    expect(await eventsOf(person, "KeyDeactivated")).toHaveLength(AN_HOUR);
    now += 3_600_000;
    expect((await person.post("/portal/keys")).status).toBe(200);
  });

  it("beyond the limit, of the account alone, are answered with the time to wait and the limit of the Developer plan", async () => {
    const [person, other] = [await people.person(), await people.person()];
    await useUp(person);
    expect((await other.post("/portal/keys")).status).toBe(200);
    now += 60_000;
    const { status, text, headers } = await person.post("/portal/links", { url: "https://example.com/" });
    expect([status, headers["retry-after"]]).toEqual([429, String(59 * 60)]);
    expect(text).toContain(`You have made ${AN_HOUR} changes within an hour, as many as your plan allows`);
    expect(text).toContain(`go on in 59 minutes, or with the Developer plan, which allows ${OF_DEVELOPERS}`);
    await service.changeTier(person.accountId, "developer");
    await until("the Developer plan", async () => (await person.get("/portal")).text.includes(">Developer<"));
    expect((await person.post("/portal/links", { url: "https://example.com/" })).status).toBe(303);
  });

  it("are not used up by forms that another site sent", async () => {
    const person = await people.person();
    const foreign = { "sec-fetch-site": "cross-site" };
    for (let n = 0; n < AN_HOUR; n++)
      expect((await sendForm(service.port, "/portal/keys", foreign, person.cookie())).status).toBe(403);
    expect((await person.post("/portal/keys")).status).toBe(200);
  });

  it("are limited at every route that makes any, apart from those that must stay possible", async () => {
    const person = await people.person();
    await useUp(person);
    const posts = postsOf(await listPortalRoutes());
    expect(posts.length).toBeGreaterThan(25);
    const limited = posts.filter((url) => STILL_POSSIBLE[url] === undefined);
    for (const url of limited) expect([url, (await person.post(addressOf(url))).status]).toEqual([url, 429]);
    for (const [url, status] of Object.entries(STILL_POSSIBLE)) {
      expect(posts).toContain(url);
      const answer = url === "/portal/sign-out" ? await person.post(url) : await person.post(addressOf(url));
      expect([url, answer.status]).toEqual([url, status]);
      if (url.endsWith("end-all")) await person.submit("/portal/sign-in", { email: person.email, password });
    }
  });

  it("of a person are limited by themselves: whatever account the address names, and at the cost of none", async () => {
    const [person, other] = [await people.person(), await people.person()];
    const statuses: number[] = [];
    for (let n = 0; n <= AN_HOUR; n++) {
      const account = n % 2 ? `/${other.accountId}` : "";
      statuses.push((await person.post(`/portal${account}/profile/name`, { name: `${n}` })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: AN_HOUR }, () => 303), 429]);
    expect((await person.post("/portal/keys")).status).toBe(200);
  });

  it("don't keep anybody from changing the password, or from closing the account", async () => {
    const person = await people.person();
    await useUp(person);
    const changed = await person.submit(
      "/portal/account",
      { password, wanted: "eight brown foxes" },
      "/portal/profile/password",
    );
    expect(changed.text).toContain("Your new password is set.");
    expect((await person.post("/portal/keys")).status).toBe(429);
    const closed = await person.submit(
      "/portal/account",
      { password: "eight brown foxes" },
      "/portal/account/close",
    );
    expect(closed.text).toContain("Your account is closed.");
  });
});

function postsOf(routes: readonly PortalRoute[]): string[] {
  return routes.filter(({ method }) => method !== "GET").map(({ url }) => url);
}

/** A path with well-formed ids that don't exist. */
function addressOf(url: string): string {
  return url.replace(/:(\w+)/g, (_, name: string) => {
    if (name === "sessionId") return "0".repeat(64);
    if (name.endsWith("Id")) return "00000000-0000-4000-8000-000000000000";
    return name === "action" ? "deactivate" : "none.example.com";
  });
}
