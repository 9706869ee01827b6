// The log tells the truth: whatever visitors send, in bursts and trickles, is read back as it was sent, everywhere.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PRESENT_RULES } from "../../src/events/classification/classify.ts";
import { packagedGeo } from "../../src/redirect/clicks/enrich/geo.ts";
import { onOwnServers, ownServers } from "../support/cluster/own-servers.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { until } from "../support/runtime/until.ts";
import { commandLine } from "../support/service/command-line.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const CLICKS = effort(500, 1_500);
const LINKS = 6;

type Agent = {
  sent: string;
  device: string;
  browser?: [string, string?];
  os?: [string, string?];
  isBot?: true;
};

const AGENTS: readonly Agent[] = [
  {
    sent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    device: "desktop",
    browser: ["Firefox", "140.0"],
    os: ["Linux"],
  },
  {
    sent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    device: "mobile",
    browser: ["Mobile Safari", "18.1"],
    os: ["iOS", "18.1"],
  },
  { sent: "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", device: "bot", isBot: true },
  { sent: "", device: "bot", isBot: true },
];
const LANGUAGES = [
  ["de-DE,de;q=0.9", "de-de"],
  ["fr;q=0.3, pt-BR", "pt-br"],
  ["", undefined],
  ["*", undefined],
] as const;
const REFERRERS = [
  ["https://www.News.example/a?token=1", "https://www.news.example/a", "news.example"],
  ["https://t.co/", "https://t.co/", "t.co"],
  ["android-app://com.example.app/", "android-app://com.example.app/", "com.example.app"],
  ["", undefined, "direct"],
] as const;
const QUERIES = [
  ["", {}],
  ["utm_source=x", { source: "x" }],
  ["utm_source=%22%5C%E2%80%A8%F0%9F%98%80&utm_term=%5B%7B%7D%2C", { source: '"\\ 😀', term: "[{}," }],
  ["qr=1", {}],
  ["qr=1&utm_medium=print", { medium: "print" }],
] as const;
const METHODS = ["GET", "GET", "GET", "HEAD"] as const;
const PREFETCH = ["", "", "prefetch;prerender"] as const;

type Sent = {
  link: number;
  address: string;
  path: string;
  headers: Record<string, string>;
  method: "GET" | "HEAD";
};

/** Each with an address of a network of its own, by which it is found again; the other members mix by other periods. */
function hit(n: number, slugs: readonly string[]): { sent: Sent; expected: Record<string, unknown> } {
  const of = <T>(list: readonly T[], period: number) => list[Math.floor(n / period) % list.length] as T;
  const network = `${11 + Math.floor(n / 200)}.${(n * 7) % 200}.${n % 250}`;
  const link = (n * 5 + Math.floor(n / 17)) % LINKS;
  const agent = of(AGENTS, 3);
  const [language, primary] = of(LANGUAGES, 2);
  const [referer, referrer] = of(REFERRERS, 1);
  const [query, own] = of(QUERIES, 1);
  const method = of(METHODS, 5);
  const prefetch = of(PREFETCH, 7);
  const longUrl = longUrlOf(link);
  const utm = { ...(link % 2 === 0 && { source: "letter", campaign: `c${link}` }), ...own };
  const isPreview = method === "HEAD" || agent.isBot === true || prefetch !== "";
  const headers: Record<string, string> = { "x-forwarded-for": `${network}.9`, "user-agent": agent.sent };
  if (language) headers["accept-language"] = language;
  if (referer) headers.referer = referer;
  if (prefetch) headers["sec-purpose"] = prefetch;
  const place = geo.locate(`${network}.9`);
  const named = (part: [string, string?] | undefined) =>
    part && { name: part[0], ...(part[1] !== undefined && { version: part[1] }) };
  return {
    sent: { link, address: `${network}.0`, path: `/${slugs[link]}${query && `?${query}`}`, headers, method },
    expected: present({
      link: `localhost/${slugs[link]}`,
      linkRevision: 0,
      longUrl,
      via: "api",
      kind: isPreview ? "preview" : query.startsWith("qr=1") ? "qr_scan" : "click",
      rules: PRESENT_RULES,
      method,
      userAgent: agent.sent || undefined,
      device: agent.device,
      browser: named(agent.browser),
      os: named(agent.os),
      ip: `${network}.0`,
      country: known(place.country),
      region: known(place.region),
      city: known(place.city),
      referrer,
      utm: Object.keys(utm).length > 0 ? utm : undefined,
      language: primary,
      prefetch: prefetch || undefined,
    }),
  };
}

const geo = packagedGeo();
const known = (name: string) => (name === "unknown" ? undefined : name);
const longUrlOf = (link: number) =>
  `https://example.com/${link}${link % 2 === 0 ? `?utm_source=letter&utm_campaign=c${link}` : ""}`;

function present(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Without what nobody can foresee: who it was, and when. */
function foreseen(data: Record<string, unknown>): Record<string, unknown> {
  const { accountId: _, at: __, visitor: ___, accountVisitor: ____, ...rest } = data;
  return rest;
}

describe("on the embedded store", () => everyClickIsReadBack());
onOwnServers(() => describe("on servers", () => everyClickIsReadBack(ownServers)));

function everyClickIsReadBack(startServers?: typeof ownServers): void {
  describe.each(["batched", "durable"])("%s", (durability) => {
    let service: TestService;
    let key: string;
    let stopServers = async () => {};
    const expected = new Map<string, Record<string, unknown>>();
    const commands = () => commandLine(service.config.dataDir);

    beforeAll(async () => {
      const servers = await startServers?.();
      const environment = servers?.environment ?? {};
      stopServers = async () => servers?.stop();
      service = await startTestService({
        TRUST_PROXY: "127.0.0.1/32",
        CLICK_DURABILITY: durability,
        ...environment,
      });
      ({ key } = await service.member("developer"));
      const slugs: string[] = [];
      for (let link = 0; link < LINKS; link++) {
        slugs.push(await service.shorten(key, { url: longUrlOf(link) }));
      }
      for (let n = 0; n < CLICKS; ) {
        // Bursts of 1 to 64 at once, each after the answers of the one before.
        const burst = Math.min(CLICKS - n, n % 3 === 0 ? 1 : 1 + ((n * 13) % 64));
        await Promise.all(
          Array.from({ length: burst }, async (_, i) => {
            const { sent, expected: click } = hit(n + i, slugs);
            expected.set(sent.address, click);
            const { status } = await service.ask(sent.path, sent);
            expect(status).toBe(301);
          }),
        );
        n += burst;
      }
      expect(expected.size).toBe(CLICKS);
      const areThere = async () => (await clicksOfLog(service)).length >= CLICKS;
      await until("every click to be in the log", areThere, { everyMs: 200 });
    });
    afterAll(async () => {
      await service?.stop();
      await stopServers();
    });

    function compare(clicks: readonly Record<string, unknown>[]): void {
      const found = new Map(clicks.map((click) => [click.ip, foreseen(click)]));
      expect(clicks).toHaveLength(CLICKS);
      expect(found.size).toBe(CLICKS);
      for (const [address, click] of expected) expect(found.get(address)).toEqual(click);
    }

    it("each click is in the log as it was sent", async () => {
      compare(await clicksOfLog(service));
    });

    it("each click is in the event feed as it was sent", async () => {
      const clicks: Record<string, unknown>[] = [];
      type Page = { events: { data: Record<string, unknown> }[]; next: string; more: boolean };
      for (let after = "", more = true; more; ) {
        const query = `limit=1000&types=LinkClicked${after && `&after=${after}`}`;
        const { status, body } = await service.ask<Page>(`/api/v1/events?${query}`, { key });
        expect(status).toBe(200);
        clicks.push(...body.events.map(({ data }) => data));
        ({ next: after, more } = body);
      }
      compare(clicks);
    });

    it("each click is printed by audit events and by the export as it was sent", async () => {
      const printed: { data: Record<string, unknown>; position: string }[] = [];
      for (let isEnd = false; !isEnd; ) {
        const after = printed.length > 0 ? ["--after", printed.at(-1)?.position as string] : [];
        const options = ["--category", "clicks", "--limit", "500", ...after];
        const { events } = await commands().json("audit", "events", ...options);
        printed.push(...events);
        isEnd = events.length === 0;
      }
      compare(printed.map(({ data }) => data));
      const file = join(service.config.dataDir, "clicks.ndjson");
      await commands().json("export", "clicks", "--format", "ndjson", "--out", file);
      const rows = new Map(
        readFileSync(file, "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as Record<string, string>)
          .map((row) => [row.ip, row]),
      );
      expect(rows.size).toBe(CLICKS);
      for (const [address, click] of expected) {
        const utm = (click.utm ?? {}) as Record<string, string>;
        expect(rows.get(address)).toMatchObject({
          link: click.link,
          type: click.kind,
          long_url: click.longUrl,
          user_agent: click.userAgent ?? "",
          language: click.language ?? "",
          referrer: click.referrer ?? "",
          country: click.country ?? "unknown",
          utm_source: utm.source ?? "",
          utm_term: utm.term ?? "",
          prefetch: click.prefetch ?? "",
          method: click.method,
        });
      }
    });

    it("a rebuild counts them as they were counted live, and the log is found sound", async () => {
      const live = await commands().json("projections", "verify");
      expect(live).toMatchObject({ differences: [] });
      await commands().json("audit", "seal");
      const audited = await commands().json("audit", "verify");
      expect(audited).toMatchObject({ ok: true });
    });
  });
}

async function clicksOfLog(service: TestService): Promise<Record<string, unknown>[]> {
  const events = await loggedEvents(service.backend.eventStore, {
    categories: ["clicks"],
    limit: 2 * CLICKS,
  });
  return events.map(({ data }) => data as Record<string, unknown>);
}
