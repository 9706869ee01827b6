// What visitors see where no link leads on: a page in the name and colour of the link's account, or where it wants them led.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decoded } from "../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../support/portal/portal-people.ts";
import { until } from "../support/runtime/until.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const HOST = "go.example.net";
const PLAIN_HOST = "plain.example.net";
const ELSEWHERE = "https://www.example.net/not-here";
const HTML = { accept: "text/html" };

let service: TestService;
let owner: Person;
let key: string;
let domainId: string;
let now: number;

beforeAll(async () => {
  now = Date.parse("2026-05-01T12:00:00Z");
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" }, () => new Date(now));
  const people = portalPeople(service);
  owner = await people.developer();
  ({ key } = await service.issueKey(owner.accountId));
  domainId = await service.domain(owner.accountId, HOST);
  const stranger = await service.member("developer");
  await service.domain(stranger.accountId, PLAIN_HOST);
});
afterAll(() => service.stop());

const shorten = (fields: object, onDomain = true) =>
  service.shorten(key, { url: "https://example.com/", ...(onDomain && { domain_id: domainId }), ...fields });

const visit = (slug: string, host = HOST, headers: Record<string, string> = HTML) =>
  service.ask<string>(`/${slug}`, { host, headers });
const brand = (fields: Record<string, string>) =>
  owner.submit("/portal/account", fields, "/portal/account/brand");

/** Brands are kept for two seconds. */
const untilShown = (
  what: string,
  slug: string,
  host: string,
  fits: (text: string, location: unknown) => boolean,
) =>
  until(what, async () => {
    const { text, headers } = await visit(slug, host);
    return fits(text, headers.location);
  });

describe("the pages for visitors", { timeout: 60_000 }, () => {
  const slugs: Record<string, string> = {};
  const onBase: Record<string, string> = {};

  beforeAll(async () => {
    const hour = (n: number) => new Date(now + n * 3_600_000).toISOString();
    for (const [where, isOnDomain] of [
      [slugs, true],
      [onBase, false],
    ] as const) {
      where.password = await shorten({ password: "open sesame" }, isOnDomain);
      where.scheduled = await shorten({ active_from: hour(48) }, isOnDomain);
      where.expired = await shorten({ expires_at: hour(1) }, isOnDomain);
      where.led = await shorten({ expires_at: hour(1), expired_url: "https://example.com/over" }, isOnDomain);
      where.disabled = await shorten({}, isOnDomain);
      await service.ask(`/api/v1/links/${where.disabled}${isOnDomain ? `?domain_id=${domainId}` : ""}`, {
        ...{ method: "PATCH", key },
        body: { disabled: true },
      });
      where.unknown = "nothing";
    }
    now += 2 * 3_600_000;
  });

  const SAYS: readonly (readonly [state: string, status: number, says: string])[] = [
    ["password", 401, "This link needs a password"],
    ["scheduled", 404, "This short link is not active yet"],
    ["expired", 404, "This short link has expired"],
    ["disabled", 404, "Short link not found"],
    ["unknown", 404, "Short link not found"],
  ];

  it.each(SAYS)("are nobody's while nothing is chosen: %s", async (state, status, says) => {
    const answer = await visit(slugs[state] ?? "");
    expect([answer.status, decoded(answer.text)]).toEqual([
      status,
      expect.stringContaining(`<h1>${says}</h1>`),
    ]);
    expect(answer.text).not.toContain("<header>");
    expect(answer.text).not.toMatch(/<a |<img|<script|Linkledger/);
  });

  it("are chosen on the account's page, which shows a sample", async () => {
    const page = await brand({ name: "Åcme & <Söhne>", colour: "#FFD400", url: "" });
    expect([page.status, page.text.includes("Saved.")]).toEqual([200, true]);
    expect(decoded(page.text)).toContain('value="Åcme & <Söhne>"');
    expect(page.text).toContain('fill="#ffd400"');
    await untilShown("the name", "nothing", HOST, (text) => text.includes("<header>"));
    await untilShown("the name", onBase.expired ?? "", "localhost", (text) => text.includes("<header>"));
  });

  it.each(SAYS)("say in the account's name and colour what is so: %s", async (state, status, says) => {
    const answer = await visit(slugs[state] ?? "");
    const text = decoded(answer.text);
    expect([answer.status, text]).toEqual([status, expect.stringContaining(`<h1>${says}</h1>`)]);
    expect(text).toContain("<header>Åcme & <Söhne></header>");
    expect(text).toContain("--colour: #ffd400; --ink: #000000");
    expect(text).not.toMatch(/<a |<img|<script|Linkledger/);
  });

  it("name no account on the base host for a slug that is unknown or disabled, nor on others' domains", async () => {
    for (const state of ["password", "scheduled", "expired"])
      expect((await visit(onBase[state] ?? "", "localhost")).text).toContain("<header>");
    for (const state of ["disabled", "unknown"])
      expect((await visit(onBase[state] ?? "", "localhost")).text).not.toContain("<header>");
    expect((await visit("nothing", PLAIN_HOST)).text).not.toContain("<header>");
    expect((await visit("", PLAIN_HOST)).text).not.toContain("<header>");
    expect((await visit("")).text).toContain("<header>");
  });

  it("give way to the account's own page for what is expired or unknown on its domains, and nowhere else", async () => {
    await brand({ name: "Acme", colour: "#ffd400", url: ELSEWHERE.replace("https://", "") });
    await untilShown("the page", "nothing", HOST, (_, location) => location === ELSEWHERE);
    for (const state of ["expired", "disabled", "unknown"]) {
      const { status, headers } = await visit(slugs[state] ?? "", HOST, {});
      expect([state, status, headers.location, headers["cache-control"]]).toEqual([
        ...[state, 302, ELSEWHERE, "no-store"],
      ]);
    }
    expect((await visit(slugs.led ?? "")).headers.location).toBe("https://example.com/over");
    expect((await visit(slugs.scheduled ?? "")).status).toBe(404);
    expect((await visit(slugs.password ?? "")).status).toBe(401);
    for (const state of ["expired", "disabled", "unknown"])
      expect((await visit(onBase[state] ?? "", "localhost")).status).toBe(404);
    expect((await visit("nothing", PLAIN_HOST)).status).toBe(404);
  });

  const BAD: readonly (readonly [fields: Record<string, string>, id: string, says: string])[] = [
    [{ name: "x".repeat(61) }, "brand-name", "The name has at most 60 characters"],
    [{ colour: "red" }, "brand-colour", "six hex digits"],
    [{ colour: "#ffd40;}</style>" }, "brand-colour", "six hex digits"],
    [{ url: "javascript:alert(1)" }, "brand-url", "not javascript:"],
    [{ url: `https://${HOST}/other` }, "brand-url", "it points back to your own short links"],
    [{ url: "https://user:pass@example.com/" }, "brand-url", "without user name or password"],
  ];
  it.each(BAD)(
    "keep what they are where it can't be so, and say why beside the field: %j",
    async (wrong, id, says) => {
      const page = await brand({ name: "Other", colour: "#112233", url: "", ...wrong });
      expect(page.status).toBe(400);
      expect(decoded(page.text)).toMatch(new RegExp(`id="${id}-error"[\\s\\S]{0,400}${says}`));
      const [field = "", typed = ""] = Object.entries(wrong)[0] ?? [];
      if (field !== "colour") expect(decoded(page.text)).toContain(`value="${typed}"`);
      expect((await visit("nothing")).headers.location).toBe(ELSEWHERE);
    },
  );

  it("are plain again when everything is taken away, and when the account is closed", async () => {
    await brand({ name: "", colour: "", url: "" });
    await untilShown("no name", "nothing", HOST, (text) => !text.includes("<header>") && text !== "");
  });
});
