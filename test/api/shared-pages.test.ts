// Pages of numbers that an owner shares: what whoever has the address sees, that no query shows more, and how they end.
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { closeAccount } from "../../src/commands/account/close-account.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { GROUPS } from "../../src/queries/analytics/question.ts";
import { operator } from "../support/commands/command-deps.ts";
import { FIREFOX } from "../support/portal/browser-like.ts";
import { anyText } from "../support/runtime/any-text.ts";
import { effort } from "../support/runtime/effort.ts";
import { until } from "../support/runtime/until.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const HTML = { accept: "text/html" };
const FORM = { ...HTML, "content-type": "application/x-www-form-urlencoded" };
const PASSWORD = "open sesame";
const HIDDEN = "hidden-campaign";

type Made = { page_id: string; url: string; has_password: boolean; is_over: boolean };

let service: TestService;
let owner: Member;
let now: number;
let readers = 0;
const reader = () => ({ "x-forwarded-for": `203.0.113.${(readers++ % 250) + 1}` });

beforeAll(async () => {
  now = Date.now();
  const environment = { TRUST_PROXY: "127.0.0.1/32", BASE_HOST_SLUGS: "true", RATE_LIMIT_DEVELOPER: "5000" };
  service = await startTestService(environment, () => new Date(now));
  owner = await service.member("developer");
  for (const [customSlug, tag, visits] of [
    ["shown-one", "shown", 3],
    ["shown-two", "shown", 2],
    [HIDDEN, "hidden", 4],
  ] as const) {
    await service.post("/api/v1/shorten", owner.key, {
      url: "https://example.com/",
      customSlug,
      tags: [tag],
    });
    for (let visit = 0; visit < visits; visit++)
      await service.ask(`/${customSlug}?utm_source=${tag}`, { headers: { "user-agent": FIREFOX } });
  }
  await until("all visits to be counted", async () => (await counted("")) === 9);
  await until("all tags to be known", async () => (await counted("tag=shown")) === 5);
}, 60_000);
afterAll(() => service.stop());

/** By the API. */
async function counted(query: string): Promise<number> {
  const { body } = await service.ask<{ totals?: { people: number } }>(`/api/v1/analytics?${query}`, owner);
  return body.totals?.people ?? 0;
}

async function make(more: object = {}, of = owner): Promise<Made> {
  const { status, body } = await service.post<Made>("/api/v1/shared-pages", of.key, {
    name: "Spring sale",
    filters: { tag: ["shown"] },
    ...more,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const pathOf = ({ url }: Made) => new URL(url).pathname;
const open = (path: string, headers: Record<string, string> = {}) =>
  service.ask(path, { headers: { ...HTML, ...reader(), ...headers } });
const give = (path: string, password: string, headers: Record<string, string> = {}) =>
  service.ask(path, {
    method: "POST",
    headers: { ...FORM, ...reader(), ...headers },
    body: new URLSearchParams({ password }).toString(),
  });
const people = (text: string) =>
  Number(/data-total="people">([\d,]+)</.exec(text)?.[1]?.replaceAll(",", "") ?? 0);

it("shows the numbers of its view to who has the address, and tells nobody of itself", async () => {
  const made = await make();
  const { status, text, headers } = await open(pathOf(made));
  expect([status, people(text)]).toEqual([200, await counted("tag=shown")]);
  expect(text).toContain("<h1>Spring sale</h1>");
  expect(headers).toMatchObject({
    "x-robots-tag": "noindex, nofollow",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  expect(headers["set-cookie"]).toBeUndefined();
  expect(text).not.toMatch(/portal\.js|href="\/portal\/(?!assets)|Sign in/);
});

it("counts no hit beyond its view and shows no breakdown that it hasn't, whatever the query says", async () => {
  const path = pathOf(await make({ cards: ["places", "sources", "links"] }));
  const long = { filters: {}, range: "custom", from: "2020-01-01", to: "2020-01-31" };
  const past = pathOf(await make(long));
  const all = await counted("tag=shown");
  const value = fc.oneof(
    fc.constantFrom<string>(
      ...["30d", "custom", "year", "2020-01-01", new Date().toISOString().slice(0, 10)],
      "hidden",
      "shown",
      HIDDEN,
      `localhost/${HIDDEN}`,
      "localhost",
      "unknown",
      "direct",
      "desktop",
    ),
    anyText(30),
  );
  const fields = [
    ...GROUPS,
    "range",
    "from",
    "to",
    "timezone",
    "interval",
    "compare",
    "compare_from",
    "compare_to",
    "show",
    "open",
    "view",
    "accountId",
    "cards",
  ];
  const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom<string>(...fields), anyText(30)), value), {
    maxLength: 6,
  });
  const check = async (pairs: [string, string][]) => {
    const { status, text } = await open(`${path}?${new URLSearchParams(pairs)}`);
    expect(status).toBe(200);
    expect(people(text)).toBeLessThanOrEqual(all);
    const then = await open(`${past}?${new URLSearchParams(pairs)}`);
    // Nothing of the time since, either in its numbers or in what they are compared with.
    expect([people(then.text), then.text.includes('class="change ')]).toEqual([0, false]);
    expect(text).not.toMatch(/class="bar-name clip">[^<]*hidden/);
    expect(text).not.toMatch(/Devices|Browsers|href="\/portal\/(?!assets)/);
  };
  await fc.assert(fc.asyncProperty(query, check), { numRuns: effort(60, 1_000) });
  const today = new Date(now).toISOString().slice(0, 10);
  const compared = await open(`${past}?compare=custom&compare_from=${today}&compare_to=${today}`);
  expect([people(compared.text), compared.text.includes('class="change ')]).toEqual([0, false]);
  expect(people((await open(`${path}?link=localhost/shown-one`)).text)).toBe(3);
  expect(people((await open(`${path}?link=localhost/${HIDDEN}`)).text)).toBe(0);
  expect(people((await open(`${path}?device=mobile`)).text)).toBe(all);
});

it("doesn't grow by what a stranger writes into its address", async () => {
  const path = pathOf(await make());
  const values = Array.from({ length: 45 }, (_, n) => `${n}`.padEnd(150, "x"));
  const query = new URLSearchParams({ utm_source: "shown" });
  for (const value of values) for (const name of ["utm_source", "open"]) query.append(name, value);
  const { text } = await open(`${path}?${query}`);
  expect(people(text)).toBe(await counted("tag=shown"));
  expect(text.length).toBeLessThan(2 * (await open(path)).text.length);
});

it("asks for its password, and takes the right one alone", async () => {
  const made = await make({ password: PASSWORD });
  expect(made.has_password).toBe(true);
  const path = pathOf(made);
  const asked = await open(`${path}?country=FR`);
  expect([asked.status, people(asked.text)]).toEqual([401, 0]);
  expect(asked.text).not.toContain("Spring sale");
  const wrong = await give(path, "close sesame");
  expect([wrong.status, wrong.headers["set-cookie"]]).toEqual([401, undefined]);
  const right = await give(path, PASSWORD);
  expect(right.status).toBe(303);
  const [cookie = ""] = String(right.headers["set-cookie"]).split(";");
  expect(String(right.headers["set-cookie"])).toContain(`Path=${path}; HttpOnly`);
  expect((await open(path, { cookie })).text).toContain("Spring sale");
  // The cookie of one page opens no other.
  const other = pathOf(await make({ password: PASSWORD }));
  expect((await open(other, { cookie })).status).toBe(401);
});

it("limits guesses of a password by the client's address", async () => {
  const path = pathOf(await make({ password: PASSWORD }));
  const from = { "x-forwarded-for": "198.51.100.7" };
  const statuses = new Set<number>();
  // Of one address four are checked at once.
  for (let guess = 0; guess < 64; guess += 4) {
    const guesses = [0, 1, 2, 3].map((n) => give(path, `guess number ${guess + n}`, from));
    for (const { status } of await Promise.all(guesses)) statuses.add(status);
  }
  expect([...statuses]).toEqual([401, 429]);
  expect((await give(path, PASSWORD)).status).toBe(303);
}, 60_000);

it("is made once however often a request is repeated under one Idempotency-Key", async () => {
  const body = { name: "Once", password: PASSWORD };
  const headers = { "idempotency-key": "once" };
  const ask = () => service.post<Made>("/api/v1/shared-pages", owner.key, body, { headers });
  const [first, ...others] = [...(await Promise.all([ask(), ask(), ask()])), await ask()];
  expect(first?.status).toBe(201);
  for (const { status, body: made } of others) expect([status, made]).toEqual([201, first?.body]);
  const { body: listed } = await service.ask<{ pages: { name: string }[] }>("/api/v1/shared-pages", owner);
  expect(listed.pages.filter(({ name }) => name === "Once")).toHaveLength(1);
  expect((await give(pathOf(first?.body as Made), PASSWORD)).status).toBe(303);
});

it("shows nothing while its account is on the Free plan, which has no ranges of time", async () => {
  const someone = await service.member("developer");
  const path = pathOf(await make({ filters: {}, range: "custom", to: "2020-01-31" }, someone));
  expect((await open(path)).status).toBe(200);
  await service.changeTier(someone.accountId, "free");
  expect((await open(path)).status).toBe(404);
  await service.changeTier(someone.accountId, "developer");
  expect((await open(path)).status).toBe(200);
});

it("is the same calm page when it was ended, is over, never was, or its account is closed", async () => {
  const ended = await make({ password: PASSWORD });
  const over = await make({ ends_at: new Date(now + 60_000).toISOString() });
  const someone = await service.member("developer");
  const closed = await make({ filters: {} }, someone);
  expect((await open(pathOf(closed))).status).toBe(200);
  const gone = await service.ask(`/api/v1/shared-pages/${ended.page_id}`, { method: "DELETE", ...owner });
  expect(gone.status).toBe(204);
  now += 60_000;
  const { eventStore, secrets } = service.backend;
  await closeAccount(
    { ...runtimeDeps, eventStore, secrets, accountsOf: async () => [] },
    operator,
    someone.accountId,
  );
  const never = await open(`/shared/${"A".repeat(43)}`);
  expect(never.status).toBe(404);
  for (const page of [ended, over, closed]) {
    const { status, text } = await open(pathOf(page));
    expect([status, text]).toEqual([404, never.text]);
  }
  const { body } = await service.ask<{ pages: Made[] }>("/api/v1/shared-pages", owner);
  expect(body.pages.find(({ page_id: id }) => id === over.page_id)?.is_over).toBe(true);
  expect(body.pages.some(({ page_id: id }) => id === ended.page_id)).toBe(false);
  const again = await service.ask(`/api/v1/shared-pages/${ended.page_id}`, { method: "DELETE", ...owner });
  expect([again.status, again.body.code]).toEqual([404, "shared_page_not_found"]);
});

it("leaves neither its address nor its password anywhere in the log", async () => {
  const made = await make({ password: PASSWORD });
  const token = pathOf(made).split("/").at(-1) ?? "";
  const events = JSON.stringify(await service.backend.eventStore.read(`account-${owner.accountId}`));
  expect(events).toContain(made.page_id);
  expect(events).not.toContain(token);
  expect(events).not.toContain(PASSWORD);
  const listed = await service.ask("/api/v1/shared-pages", owner);
  expect(listed.text).not.toContain(token);
});

it("shows of chosen days nothing of those before, also not to compare with", async () => {
  now += 86_400_000;
  const today = new Date(now).toISOString().slice(0, 10);
  const { text } = await open(pathOf(await make({ range: "custom", from: today, to: today })));
  expect([people(text), text.includes("Compared with")]).toEqual([0, false]);
  expect((await open(pathOf(await make({ range: "today" })))).text).toContain("Compared with");
});

it("says of days that are still to come that nobody has been there yet", async () => {
  const { status, text } = await open(pathOf(await make({ range: "custom", from: "2999-01-01" })));
  expect([status, text.includes("Nobody has been here in this time")]).toEqual([200, true]);
});

it("limits how often one address opens pages", async () => {
  const from = { "x-forwarded-for": "198.51.100.9" };
  const looks = Array.from({ length: 601 }, () => open("/shared/nothing", from));
  const statuses = (await Promise.all(looks)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
}, 60_000);
