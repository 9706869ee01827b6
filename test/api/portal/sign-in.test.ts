// Sign-up, sign-in and sign-out over real HTTP, and attacks on them: session fixation, guessing, enumeration, open redirects, markup injection.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CATEGORY } from "../../../src/events/streams.ts";
import { rateLimits } from "../../../src/limits/rate-limit.ts";
import { countSignIn } from "../../../src/portal/auth/sign-in-pages.ts";
import { ownCounts } from "../../../src/stores/counts/own-counts.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import {
  decoded,
  issuedKey,
  PASSWORD as password,
  signedUp,
  visitor,
} from "../../support/portal/browser-like.ts";
import { send } from "../../support/service/ask.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const SESSION = "linkledger-session";

describe("the portal's accounts", { timeout: 60_000 }, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
    await member("astray@example.com");
  }, 120_000);
  afterAll(() => service.stop());

  const member = (email: string) => signedUp(service.port, email);
  const signIn = (person: ReturnType<typeof visitor>, email: string, given = password, next = "") =>
    person.submit("/portal/sign-in", { email, password: given, ...(next && { next }) });

  it("signs a newcomer up and in, and lets them issue a key that works", async () => {
    const person = visitor(service.port);
    const landed = await person.submit("/portal/sign-up", { email: "new@example.com", password });
    expect(landed.text).toContain("new@example.com");
    const key = await issuedKey(person, "Website");
    expect((await service.post("/api/v1/shorten", key, { url: "https://example.com/" })).status).toBe(201);
    const list = await person.get("/portal/keys");
    expect(list.text).toMatch(/Website[\s\S]*data-label="Last used"><time datetime="2/);
    expect(list.text).not.toContain(key);
  });

  it("answers 404 as a page, and 404 on other hosts", async () => {
    const { status, text } = await visitor(service.port).get("/portal/nothing");
    expect([status, text]).toEqual([404, expect.stringContaining("<h1>There is nothing here</h1>")]);
    expect(text).toContain("Check the address, or begin on the first page.");
    expect(text).toContain("Go to the first page</a>");
    for (const path of ["/portal", "/portal/sign-in", "/portal/nothing"])
      expect((await service.ask(path, { host: "own.example.org" })).status).toBe(404);
  });

  it("signs out, and in again to where the visitor wanted to go", async () => {
    const person = await signedUp(service.port, "again@example.com");
    await person.submit("/portal/keys", {}, "/portal/sign-out");
    const refused = await person.get("/portal/keys");
    expect(refused.status).toBe(303);
    expect(refused.headers.location).toBe("/portal/sign-in?next=%2Fportal%2Fkeys");
    const back = await person.submit(
      String(refused.headers.location),
      {
        email: "Again@Example.com",
        password,
        next: "/portal/keys",
      },
      "/portal/sign-in",
    );
    expect([back.status, back.text]).toEqual([200, expect.stringContaining("<h1>API keys</h1>")]);
  });

  it("gives a new session, whatever cookie was planted before, and ends the one that was there", async () => {
    const attacker = await member("attacker@example.com");
    await member("victim@example.com");
    const planted = String(attacker.cookies.get(SESSION));
    const victim = visitor(service.port);
    victim.cookies.set(SESSION, planted);
    const { text } = await victim.submit(
      "/portal/account",
      { email: "victim@example.com", password },
      "/portal/sign-in",
    );
    expect(text).toContain("victim@example.com");
    expect(victim.cookies.get(SESSION)).not.toBe(planted);
    expect((await attacker.get("/portal/account")).status).toBe(303);
    const stranger = visitor(service.port);
    for (const made of [
      "x",
      `${crypto.randomUUID()}.${"a".repeat(43)}`,
      `${planted.split(".")[0]}.${"a".repeat(43)}`,
    ]) {
      stranger.cookies.set(SESSION, made);
      expect((await stranger.get("/portal/account")).status).toBe(303);
    }
  });

  it("ends the session on the server when someone signs out", async () => {
    const person = await member("leaving@example.com");
    const kept = String(person.cookies.get(SESSION));
    await person.submit("/portal/account", {}, "/portal/sign-out");
    person.cookies.set(SESSION, kept);
    expect((await person.get("/portal/account")).status).toBe(303);
  });

  it("keeps no token, and no password, in clear", async () => {
    const person = await member("clear@example.com");
    const [, token = ""] = String(person.cookies.get(SESSION)).split(".");
    const kept = JSON.stringify(await service.backend.secrets.list("", new Date()));
    const events = JSON.stringify(
      await loggedEvents(service.backend.eventStore, { categories: Object.values(CATEGORY), limit: 10_000 }),
    );
    for (const place of [kept, events, service.logged.join("")]) {
      expect(place).not.toContain(token);
      expect(place).not.toContain(password);
    }
    expect(events + service.logged.join("")).not.toContain("clear@example.com");
  });

  it("answers a wrong password, an unknown address and an account without a password alike", async () => {
    await member("known@example.com");
    await service.member("free");
    const answers = [];
    for (const email of ["known@example.com", "unknown@example.com", "member-1@example.com"]) {
      const { status, text } = await signIn(visitor(service.port), email, "not my password");
      answers.push([status, text.replaceAll(email, "E").replace(/value="[^"]{20,}"/g, "")]);
    }
    expect(answers[0]?.[0]).toBe(401);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it("refuses the 16th try of an hour at one account from one address, the right password too", async () => {
    await member("guessed@example.com");
    const from = (address: string) => visitor(service.port, { address });
    for (let round = 0; round < 15; round++)
      expect((await signIn(from("198.51.100.1"), "guessed@example.com", "a wrong guess")).status).toBe(401);
    const refused = await signIn(from("198.51.100.1"), "guessed@example.com");
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining("Too many tries")]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3000);
    expect((await signIn(from("198.51.100.2"), "guessed@example.com")).status).toBe(200);
  });

  it("refuses the 101st try of an hour from one address, and at one account from many", async () => {
    const now = new Date();
    const deps = { rateLimits: rateLimits(ownCounts()), clock: () => now };
    const attempt = (ip: string, email: string) => countSignIn(deps, { ip } as never, email, undefined);
    for (let n = 0; n < 100; n++) await attempt("198.51.100.3", `person-${n}@example.com`);
    await expect(attempt("198.51.100.3", "person-100@example.com")).rejects.toMatchObject({
      code: "rate_limit_exceeded",
    });
    for (let n = 0; n < 100; n++) await attempt(`198.51.101.${n}`, "one@example.com");
    await expect(attempt("198.51.101.200", "ONE@example.com")).rejects.toMatchObject({
      code: "rate_limit_exceeded",
    });
    await attempt("2001:db8::1", "six@example.com");
  });

  it("never leads to another site", async () => {
    const email = "astray@example.com";
    const person = visitor(service.port);
    for (const next of ["https://evil.example/", "/\\evil.example"]) {
      const { status, headers } = await person.post("/portal/sign-in", { email, password, next });
      expect([status, headers.location]).toEqual([303, "/portal"]);
      const twice = await person.get(`/portal/sign-in?next=${encodeURIComponent(next)}`);
      expect(twice.headers.location).toBe("/portal");
    }
  });

  it("shows markup in labels, addresses and user agents as text", async () => {
    const markup = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;
    const email = `<img/src=x/onerror=alert(1)>@example.com`;
    const person = await signedUp(service.port, email, { userAgent: `Mozilla/5.0 ${markup} Firefox/140.0` });
    await person.submit("/portal/keys", { label: markup });
    const failed = await signIn(visitor(service.port), email, markup);
    const pages = [
      failed,
      await person.get("/portal/keys"),
      await person.get("/portal/account"),
      await person.get("/portal/plan"),
    ];
    for (const { text } of pages) expect(text).not.toMatch(/<img|<script(?![^>]* src=")|onerror=[^&]*>/i);
    expect(decoded(pages[1]?.text ?? "")).toContain(markup);
    expect(decoded(pages[2]?.text ?? "")).toContain(email);
  });
});

it("binds cookies to the host and to https, and hides them from scripts, where the service is on https", async () => {
  const service = await startTestService({ BASE_URL: "https://lnk.example" });
  const form = new URLSearchParams({ email: "secure@example.com", password });
  const { headers } = await send(service.port, "/portal/sign-up", {
    ...{ host: "lnk.example", method: "POST", body: form.toString() },
    headers: { accept: "text/html", "content-type": "application/x-www-form-urlencoded" },
  });
  const rest = "Max-Age=31536000; Path=/; HttpOnly; Secure; SameSite=Lax";
  expect(headers["set-cookie"]).toEqual([
    expect.stringMatching(new RegExp(`^__Host-linkledger-session=[^;]+; ${rest}$`)),
    expect.stringMatching(new RegExp(`^__Host-linkledger-device-[0-9a-f]{16}=[\\w-]{43}; ${rest}$`)),
  ]);
  expect(headers["strict-transport-security"]).toMatch(/max-age=31536000/);
  await service.stop();
});
