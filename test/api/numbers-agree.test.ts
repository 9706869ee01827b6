// One number, one answer: wherever the hits of a link are told, they are those of the log that are not withdrawn.
import { randomUUID } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { withdrawClicks } from "../../src/commands/withdrawals/withdraw-clicks.ts";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { CLICK_KINDS, type ClickKind } from "../../src/events/vocabulary.ts";
import { matchingClicks } from "../../src/queries/audit/matching-clicks.ts";
import { operator } from "../support/commands/command-deps.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { decoded } from "../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../support/portal/portal-people.ts";
import { until } from "../support/runtime/until.ts";
import { commandLine } from "../support/service/command-line.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";
import { webhookOf } from "../support/webhooks/webhook-of.ts";
import { startReceiver } from "../support/webhooks/webhook-receiver.ts";

const AGENTS = [
  "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
  "curl/8.0",
];
const LINKS = 3;
const VISITS = 45;
const LATE = 12;
const DAY_MS = 86_400_000;

type Hits = Record<ClickKind, number>;
/** By slug. */
type Told = Record<string, Partial<Hits> & { people?: number; total?: number }>;
type Ofs = { service: TestService; key: string; person: Person; slugs: readonly string[] };

it("is told the same by API, portal, commands, exports and webhooks, also of late and withdrawn clicks", {
  timeout: 180_000,
}, async () => {
  const service = await startTestService({
    ...{ TRUST_PROXY: "127.0.0.1/32", WEBHOOK_ALLOW_PRIVATE: "true", RATE_LIMIT_DEVELOPER: "100000" },
  });
  onTestFinished(() => service.stop());
  const person = await portalPeople(service).developer();
  const { accountId } = person;
  const { key } = await service.issueKey(accountId);
  const receiver = await startReceiver();
  await webhookOf(service.backend, accountId, receiver.port, CLICK_KINDS);
  const slugs: string[] = [];
  for (let n = 0; n < LINKS; n++) {
    const body = { url: `https://example.com/${n}`, tags: [`tag${n}`] };
    slugs.push((await service.post<{ slug: string }>("/api/v1/shorten", key, body)).body.slug);
  }
  for (let n = 0; n < VISITS; n++) {
    const path = `/${slugs[(n * n) % LINKS]}${n % 4 === 1 ? "?qr=1" : ""}`;
    const headers = { "user-agent": AGENTS[n % AGENTS.length] as string, "x-forwarded-for": `192.0.2.${n}` };
    await service.ask(path, { method: n % 7 === 3 ? "HEAD" : "GET", headers });
  }
  const late = Array.from({ length: LATE }, (_, n) => {
    const at = new Date(Date.now() - ((n * 40) / LATE) * DAY_MS).toISOString();
    const link = `localhost/${slugs[n % LINKS]}`;
    return newEvent(
      linkClicked({ link, accountId, at, kind: CLICK_KINDS[n % 3], userAgent: AGENTS[n % 2] }),
      ...([
        randomUUID(),
        { correlationId: "c", causationId: "c", actor: { type: "system", id: "w" } },
      ] as const),
    );
  });
  await service.backend.eventStore.append("clicks-0123456789abcdef-20260101", "none", late);
  await until("all clicks to be in the log", async () => (await clicksOf(service)).length === VISITS + LATE);

  const all = await clicksOf(service);
  const of = { service, key, person, slugs };
  await expectEverywhere(of, all);
  await until("all deliveries", () => receiver.received.length === all.length);
  const sent = receiver.received.map(({ body }) => JSON.parse(String(body)));
  expect(sent.map(({ timestamp, data }) => `${data.link_id} ${timestamp}`).sort()).toEqual(
    all.map(({ at, link }) => `${link.split("/")[1]} ${at}`).sort(),
  );

  const deps = {
    ...runtimeDeps,
    ...service.backend,
    matchingClicks: (...asked: [address: { host: string; slug: string }, selection: never]) =>
      matchingClicks(service.backend, ...asked),
  };
  const request = { from: new Date(FROM), userAgent: "firefox", reason: "Our own tests" };
  await withdrawClicks(deps as never, operator, { host: "localhost", slug: slugs[0] as string }, request);
  const left = all.filter(
    ({ link, userAgent }) => link !== `localhost/${slugs[0]}` || !userAgent?.includes("Firefox"),
  );
  expect(left.length).toBeLessThan(all.length);
  await expectEverywhere(of, left);
});

async function clicksOf({ backend }: TestService): Promise<LinkClicked["data"][]> {
  const events = await loggedEvents(backend.eventStore, { categories: ["clicks"], limit: 1_000 });
  return events.map(({ data }) => data as LinkClicked["data"]);
}

/** Each place within the time in which clicks are counted. */
async function expectEverywhere(of: Ofs, clicks: readonly LinkClicked["data"][]): Promise<void> {
  const wanted = (fields: readonly string[]): Told =>
    Object.fromEntries(
      of.slugs.map((slug) => {
        const hits = clicks.filter(({ link }) => link === `localhost/${slug}`);
        const count = (...kinds: ClickKind[]) => hits.filter(({ kind }) => kinds.includes(kind)).length;
        const all = {
          ...{ click: count("click"), preview: count("preview"), qr_scan: count("qr_scan") },
          ...{ people: count("click", "qr_scan"), total: hits.length },
        };
        return [slug, Object.fromEntries(Object.entries(all).filter(([field]) => fields.includes(field)))];
      }),
    );
  for (const [place, tell] of Object.entries(PLACES)) {
    const told = async () => [place, await tell(of)] as const;
    const fields = Object.keys(Object.values((await told())[1])[0] ?? {});
    await expect.poll(told, { timeout: 60_000, interval: 200 }).toEqual([place, wanted(fields)]);
  }
}

const FROM = new Date(Date.now() - 60 * DAY_MS).toISOString();

const PLACES: Record<string, (of: Ofs) => Promise<Told>> = {
  "a link's whole life": (of) =>
    ofEach(of, async (slug) => {
      const { analytics } = await asked(of, `/api/v1/analytics/${slug}`);
      expect(sum(Object.values(analytics.devices))).toBe(analytics.totalClicks);
      return { total: analytics.totalClicks, ...analytics.eventTypes };
    }),
  "a link's range": (of) =>
    ofEach(of, async (slug) => {
      const path = `/api/v1/analytics/${slug}/range?from=${FROM}&timezone=Asia/Kolkata`;
      const { analytics } = await asked(of, path);
      expect(sum(analytics.series.map(({ total }: { total: number }) => total))).toBe(analytics.totalClicks);
      return { total: analytics.totalClicks, ...analytics.eventTypes };
    }),
  "the account's numbers, filtered": (of) =>
    ofEach(of, async (slug) => {
      const { totals } = await asked(
        of,
        `/api/v1/analytics?from=${FROM}&link=${slug}&tag=tag${of.slugs.indexOf(slug)}`,
      );
      return only(totals, "click", "preview", "qr_scan", "people");
    }),
  "the account's links": async (of) => {
    const { groups } = await asked(of, `/api/v1/analytics?from=${FROM}&group_by=link`);
    return Object.fromEntries(
      groups.map(({ value, ...row }: { value: string } & Hits) => [
        value.split("/")[1],
        only(row, "click", "preview", "qr_scan", "people" as never),
      ]),
    );
  },
  "pages of clicks": async (of) => {
    const { clicks } = await asked(of, `/api/v1/clicks?from=${FROM}&limit=100`);
    return tallied(of, clicks);
  },
  "an export of clicks": async (of) => {
    const { text } = await of.service.ask(`/api/v1/clicks/export?format=ndjson`, { key: of.key });
    return tallied(of, linesOf(text));
  },
  "an export by command": async (of) => {
    const { stdout } = await commands(of).linkledger(["export", "clicks", "--from", FROM.slice(0, 10)]);
    return tallied(of, linesOf(stdout));
  },
  "a link's changes": (of) =>
    ofEach(of, async (slug) => {
      const { after } = await asked(
        of,
        `/api/v1/analytics/${slug}/changes?since=-`.replace("=-", `=${FROM}`),
      );
      return after;
    }),
  "clicks by tag": async (of) => {
    const { tags } = await asked(of, "/api/v1/tags");
    return Object.fromEntries(
      of.slugs.map((slug, n) => [
        slug,
        { people: tags.find(({ tag }: { tag: string }) => tag === `tag${n}`).clicks },
      ]),
    );
  },
  explain: (of) =>
    ofEach(of, async (slug) => {
      const { clicks } = await commands(of).json("explain", slug, "--verify");
      return only(clicks, "click", "preview", "qr_scan", "total" as never);
    }),
  "the portal's numbers": (of) =>
    ofEach(of, async (slug) => {
      const { text } = await of.person.get(`/portal/analytics?link=localhost/${slug}&range=90d`);
      const number = (metric: string) =>
        Number(new RegExp(`data-total="${metric}">([\\d,]+)<`).exec(text)?.[1]);
      return { people: number("people"), qr_scan: number("qr_scan"), preview: number("preview") };
    }),
  "the portal's list": async (of) => {
    const text = decoded((await of.person.get("/portal/links")).text);
    return Object.fromEntries(
      of.slugs.map((slug) => {
        const number = new RegExp(`link=localhost(?:/|%2F)${slug}" aria-label="([\\d,]+) clicks`).exec(
          text,
        )?.[1];
        return [slug, { people: Number(number) }];
      }),
    );
  },
};

async function asked({ service, key }: Ofs, path: string) {
  // biome-ignore lint/suspicious/noExplicitAny: of twelve forms, each read by one place.
  const answer = await service.ask<any>(path, { key });
  expect([path, answer.status, answer.text]).toEqual([path, 200, expect.any(String)]);
  return answer.body;
}

function commands({ service }: Ofs) {
  return commandLine(service.config.dataDir);
}

async function ofEach({ slugs }: Ofs, tell: (slug: string) => Promise<Told[string]>): Promise<Told> {
  return Object.fromEntries(await Promise.all(slugs.map(async (slug) => [slug, await tell(slug)] as const)));
}

function only<T extends object>(counts: T, ...fields: (keyof T & string)[]): Told[string] {
  return Object.fromEntries(fields.map((field) => [field, counts[field]]));
}

function tallied({ slugs }: Ofs, rows: readonly { type: ClickKind; link: string }[]): Told {
  return Object.fromEntries(
    slugs.map((slug) => {
      const hits = rows.filter(({ link }) => link === `localhost/${slug}`);
      return [
        slug,
        Object.fromEntries(CLICK_KINDS.map((kind) => [kind, hits.filter((hit) => hit.type === kind).length])),
      ];
    }),
  );
}

function linesOf(text: string) {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

function sum(numbers: readonly unknown[]): number {
  return numbers.reduce<number>((all, one) => all + Number(one), 0);
}
