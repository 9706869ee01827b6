// Links with a password over real HTTP: who is asked, what opens them and for how long, and what a stranger can try.

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linkPasswordSecret } from "../../src/commands/links/link-password.ts";
import { linkFromStream } from "../../src/queries/links/find-link.ts";
import { FIREFOX, visitor } from "../support/portal/browser-like.ts";
import { anyText } from "../support/runtime/any-text.ts";
import { effort } from "../support/runtime/effort.ts";
import { until } from "../support/runtime/until.ts";
import type { Ask } from "../support/service/ask.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const DESTINATION = "https://example.com/secret-place";
const PASSWORD = "öpen sesame & more";
const HTML = { accept: "text/html,*/*;q=0.8" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };

let service: TestService;
let owner: Member;
let now: number;
let addresses = 0;

beforeAll(async () => {
  now = Date.parse("2026-05-01T12:00:00Z");
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" }, () => new Date(now));
  owner = await service.member("developer");
});
const change = (slug: string, body: object) =>
  service.ask(`/api/v1/links/${slug}`, { method: "PATCH", key: owner.key, body });
afterAll(() => service.stop());

const shorten = (fields: object = {}) =>
  service.shorten(owner.key, { url: DESTINATION, password: PASSWORD, ...fields });

/** Of a client of its own, unless headers say otherwise. */
const newAddress = () => `203.0.113.${(addresses++ % 250) + 1}`;

async function visit(path: string, { headers, ...given }: Ask = {}) {
  const all = { "user-agent": FIREFOX, "x-forwarded-for": newAddress(), ...headers };
  return await service.ask<{ code: string; error: string }>(`/${path}`, { ...given, headers: all });
}

function give(path: string, password = PASSWORD, headers: Record<string, string> = {}, given: Ask = {}) {
  const body = new URLSearchParams({ password }).toString();
  return visit(path, { method: "POST", ...given, headers: { ...FORM, ...headers }, body });
}

const passOf = (answer: { headers: Record<string, unknown> }) =>
  String((answer.headers["set-cookie"] as string[] | undefined)?.[0]?.split(";")[0]);

describe("a link with a password", () => {
  it("asks people on a page without scripts, and tells nobody where it leads", async () => {
    const slug = await shorten();
    const answer = await visit(`${slug}?utm_source=x`, { headers: HTML });
    expect(answer.status).toBe(401);
    expect(answer.headers).toMatchObject({
      "cache-control": "no-store",
      "content-type": "text/html; charset=utf-8",
      "www-authenticate": 'Cookie realm="This short link"',
      "referrer-policy": "no-referrer",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    });
    expect(answer.headers.location).toBeUndefined();
    // Without an action it is posted to the address it stands at, with its query.
    expect(answer.text).toContain('<form method="post">');
    expect(answer.text).toContain('<label for="password">Password</label>');
    expect(answer.text).not.toContain("<script");
    expect(answer.text).not.toContain("secret-place");
  });

  it("asks programs in JSON, answers HEAD without a body, and counts none of them", async () => {
    const slug = await shorten();
    const json = await visit(slug);
    expect([json.status, json.body.code]).toEqual([401, "password_required"]);
    const head = await visit(slug, { method: "HEAD" });
    expect([head.status, head.text, head.headers.location]).toEqual([401, "", undefined]);
    await give(slug);
    await until("the click", async () => (await service.clicksOf(slug)).length > 0);
    expect(await service.clicksOf(slug)).toHaveLength(1);
  });

  it("leads on who gives it, counts the click as a person's with its query, and asks no more", async () => {
    const slug = await shorten();
    const answer = await give(`${slug}?qr=1&utm_source=poster`);
    expect([answer.status, answer.headers.location]).toEqual([303, DESTINATION]);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers["set-cookie"]?.[0]).toMatch(
      new RegExp(`^linkledger-link=[\\w.-]+; Path=/${slug}; HttpOnly; SameSite=Lax$`),
    );
    const again = await visit(slug, { headers: { cookie: passOf(answer) } });
    expect([again.status, again.headers.location]).toEqual([302, DESTINATION]);
    await until("both clicks", async () => (await service.clicksOf(slug)).length === 2);
    expect(await service.clicksOf(slug)).toMatchObject([
      { method: "POST", kind: "qr_scan", utm: { source: "poster" } },
      { method: "GET", kind: "click" },
    ]);
  });

  it("takes a password in another form of the same characters", async () => {
    expect((await give(await shorten(), PASSWORD.normalize("NFD"))).status).toBe(303);
  });

  it.each([301, 307, 308])(
    "never sends the password on, also with redirect_code %i",
    async (redirect_code) => {
      const slug = await shorten({
        redirect_code,
        expires_at: "2026-05-01T13:00:00Z",
        expired_url: "https://example.com/over",
      });
      const answer = await give(slug);
      expect(answer.status).toBe(303);
      const again = await visit(slug, { headers: { cookie: passOf(answer) } });
      expect(again.status).toBe(redirect_code);
      now += 3_600_000;
      try {
        expect([(await give(slug)).status, (await visit(slug)).status]).toEqual([303, redirect_code]);
      } finally {
        now -= 3_600_000;
      }
    },
  );

  it("is asked for again after twelve hours, on another link, and in another spelling of a link", async () => {
    const [slug, other] = [await shorten(), await shorten()];
    const answer = await give(slug.toUpperCase());
    expect(answer.headers["set-cookie"]?.[0]).toContain(`; Path=/${slug.toUpperCase()};`);
    const cookie = passOf(answer);
    expect((await visit(slug, { headers: { cookie } })).status).toBe(302);
    expect((await visit(other, { headers: { cookie } })).status).toBe(401);
    now += 12 * 3_600_000;
    try {
      expect((await visit(slug, { headers: { cookie } })).status).toBe(401);
    } finally {
      now -= 12 * 3_600_000;
    }
  });

  it("says so when it is wrong, and makes no pass", async () => {
    const slug = await shorten();
    const page = await give(slug, "open sesame", HTML);
    expect([page.status, page.headers["set-cookie"]]).toEqual([401, undefined]);
    expect(page.text).toContain('<p id="refusal" role="alert">This is not the password of this link</p>');
    expect((await give(slug, "open sesame")).body.code).toBe("wrong_password");
  });

  it("asks everybody for a new password, and nobody where it is taken away", async () => {
    const slug = await shorten();
    const cookie = passOf(await give(slug));
    await change(slug, { password: "another one" });
    const statusOf = async () => (await visit(slug, { headers: { cookie } })).status;
    expect(await statusOf()).toBe(401);
    expect((await give(slug)).body.code).toBe("wrong_password");
    expect((await give(slug, "another one")).status).toBe(303);
    await change(slug, { password: null });
    expect(await statusOf()).toBe(301);
  });

  it("stays closed when its hash is missing", async () => {
    const slug = await shorten();
    const link = await linkFromStream(service.backend.eventStore, `localhost/${slug}`);
    await service.backend.secrets.delete(linkPasswordSecret(link?.passwordId ?? ""));
    expect((await give(slug)).status).toBe(401);
    expect(service.logged.join("")).toContain("the password of a link is missing from the secrets");
  });

  it("is at https on a custom domain, whose cookie is Secure", async () => {
    const host = "go.example.org";
    const domain_id = await service.domain(owner.accountId, host);
    const slug = await shorten({ domain_id });
    const answer = await give(slug, PASSWORD, {}, { host });
    expect(answer.headers["set-cookie"]?.[0]).toMatch(/; SameSite=Lax; Secure$/);
    const elsewhere = await visit(slug, { headers: { cookie: passOf(answer) }, host });
    expect(elsewhere.status).toBe(302);
  });

  it("lets a wrong password be tried sixty times an hour and address, and right ones count for nothing", async () => {
    const slug = await shorten();
    const from = { "x-forwarded-for": newAddress() };
    const answers = async (password: string, tries: number) => {
      const given: number[] = [];
      while (given.length < tries) given.push((await give(slug, password, from)).status);
      return [...new Set(given)];
    };
    expect(await answers("wrong", 59)).toEqual([401]);
    expect(await answers(PASSWORD, 10)).toEqual([303]);
    expect(await answers("wrong", 1)).toEqual([401]);
    const page = await give(slug, PASSWORD, { ...from, ...HTML });
    expect([page.status, page.headers["retry-after"], page.headers["set-cookie"]]).toEqual([
      429,
      "3600",
      undefined,
    ]);
    expect(page.text).toMatch(/role="alert">Too many tries. Please wait 60 minutes/);
    expect((await give(slug, PASSWORD, from)).body.code).toBe("rate_limit_exceeded");
    // Of another link too; from another address it opens.
    expect((await give(await shorten(), PASSWORD, from)).status).toBe(429);
    expect((await give(slug)).status).toBe(303);
  });

  it("keeps nobody from signing in, however many send its right password at once", async () => {
    const slug = await shorten();
    const person = visitor(service.port, { address: "198.51.100.77" });
    const account = { email: "owner@example.com", password: "seven brown foxes" };
    await person.submit("/portal/sign-up", account);
    const lines = service.logged.length;
    let isFlooded = true;
    const statuses = new Set<number>();
    const from = { "x-forwarded-for": newAddress() };
    const flood = Array.from({ length: 60 }, async (_, n) => {
      while (isFlooded) statuses.add((await give(slug, n % 2 ? PASSWORD : `wrong ${n}`, from)).status);
    });
    const signIns: number[] = [];
    for (let n = 0; n < 3; n++) {
      const browser = visitor(service.port, { address: `198.51.100.${n + 80}` });
      signIns.push((await browser.submit("/portal/sign-in", account)).status);
    }
    isFlooded = false;
    await Promise.all(flood);
    expect(signIns).toEqual(Array(3).fill(200));
    expect([...statuses].filter((status) => ![303, 401, 429, 503].includes(status))).toEqual([]);
    expect(service.logged.slice(lines).filter((line) => /"level":50/.test(line))).toEqual([]);
  });

  it.each([
    ["no password", "", FORM, 401, "password_required"],
    ["another field", "pass=x", FORM, 401, "password_required"],
    ["an empty one", "password=", FORM, 401, "password_required"],
    ["JSON", `{"password":"${PASSWORD}"}`, { "content-type": "application/json" }, 401, "password_required"],
    ["more than 4 KB", `password=${"x".repeat(4_100)}`, FORM, 400, "body_too_large"],
    ["a megabyte", `password=${"x".repeat(1_000_000)}`, FORM, 400, "body_too_large"],
  ])("answers a form with %s", async (_, body, headers, status, code) => {
    const slug = await shorten();
    const answer = await visit(slug, { method: "POST", headers, body });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it.each([
    ["is disabled", { disabled: true }, 404, undefined],
    ["gets another destination", { url: "https://example.com/new" }, 303, "https://example.com/new"],
    ["gets another password", { password: "another one" }, 401, undefined],
    ["loses its password", { password: null }, 303, DESTINATION],
  ])("that %s while a slow form arrives is answered as it is then", async (_, changes, status, location) => {
    const slug = await shorten();
    const body = new URLSearchParams({ password: PASSWORD }).toString();
    const headers = { ...FORM, "content-length": body.length };
    const posted = request({
      host: "127.0.0.1",
      port: service.port,
      path: `/${slug}`,
      method: "POST",
      headers,
    });
    posted.write(body.slice(0, 5));
    await setTimeout(100);
    expect((await change(slug, changes)).status).toBe(200);
    posted.end(body.slice(5));
    const [answer] = (await once(posted, "response")) as [IncomingMessage];
    answer.resume();
    expect([answer.statusCode, answer.headers.location]).toEqual([status, location]);
  });

  it("opens to nothing that a stranger makes up, and never answers 5xx", async () => {
    const slug = await shorten();
    const body = fc.oneof(
      anyText(60),
      anyText(60).map((text) => `password=${text}`),
      anyText(60).map((text) => new URLSearchParams({ password: text }).toString()),
      fc.constantFrom("password=%", "password=%ff%fe&password=x", "password[]=x", "&=&", "password"),
    );
    const type = fc.constantFrom(
      "application/x-www-form-urlencoded",
      "Application/X-WWW-Form-Urlencoded;charset=x",
      "text/plain",
      "multipart/form-data; boundary=x",
      "application/json",
    );
    const method = fc.constantFrom("GET", "HEAD", "POST");
    const cookie = anyText(30).map((text) => `linkledger-link=${encodeURIComponent(text)}`);
    const accept = fc.constantFrom("*/*", "text/html");
    const suffix = fc.constantFrom("", "?", "?qr=1", "?password=x", "?%ff");
    const mixture = fc.record({ body, type, method, cookie, accept, suffix });
    await fc.assert(
      fc.asyncProperty(mixture, async ({ body, type, method, cookie, accept, suffix }) => {
        const headers = { "content-type": type, cookie, accept };
        const given = method === "POST" ? { body } : {};
        const answer = await visit(slug + suffix, { method, headers, ...given });
        expect([400, 401, 429]).toContain(answer.status);
        expect([answer.headers.location, answer.headers["set-cookie"]]).toEqual([undefined, undefined]);
        expect(answer.text).not.toContain("secret-place");
      }),
      { numRuns: effort(60, 1_000) },
    );
  });

  it("leaves what is posted to other links, and to none, where it was", async () => {
    const plain = await shorten({ password: null });
    const titled = await shorten({ password: null, redirect_code: 302 });
    for (const path of [plain, titled, "nothing-here", "some.txt"]) {
      const answer = await give(path);
      expect([answer.status, answer.body.code, answer.body.error]).toEqual([
        404,
        "not_found",
        "There is nothing at this address",
      ]);
    }
    expect(await service.clicksOf(plain)).toEqual([]);
  });
});
