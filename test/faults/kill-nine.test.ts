// Answered creates and redirects survive `kill -9` of the real process under load.

import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { clickFacts } from "../../src/events/click-facts.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { openBackend } from "../../src/service/stores/backend.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { until } from "../support/runtime/until.ts";
import { instanceOfSuite } from "../support/service/instance-of-suite.ts";
import { accountWithKeys, type Environment, startService } from "../support/service/service-process.ts";

const ROUNDS = effort(2, 3);
/** Redirects before the kill: fewer prove little. */
const ENOUGH_ANSWERS = effort(100, 300);
const VISITORS = 16;
const LINKS_A_REQUEST = 10;

type Load = { links: Map<string, string>; answered: Set<string>; sent: Set<string> };

describe("a service that is killed with SIGKILL under load", () => {
  const instance = instanceOfSuite({ CLICK_DURABILITY: "durable" });
  let keys: string[];
  const load: Load = { links: new Map(), answered: new Set(), sent: new Set() };

  beforeAll(async () => {
    ({ keys } = await accountWithKeys(instance, "developer", 4));
    for (let round = 0; round < ROUNDS; round++) {
      const service = await startService(instance);
      const running = startLoad(service.url, keys, load, round);
      await until("answered redirects", () => answeredIn(round) >= ENOUGH_ANSWERS);
      await service.stop("SIGKILL");
      await running;
    }
  }, 180_000);

  const answeredIn = (round: number) =>
    [...load.answered].filter((mark) => mark.startsWith(`${round}-`)).length;

  it("had answered creates and redirects in every round", () => {
    for (let round = 0; round < ROUNDS; round++) {
      expect(answeredIn(round)).toBeGreaterThanOrEqual(ENOUGH_ANSWERS);
    }
    expect(load.links.size).toBeGreaterThan(ROUNDS * LINKS_A_REQUEST);
  });

  it("redirects every link that it had answered with 201", async () => {
    const service = await startService(instance);
    try {
      const unchecked = [...load.links];
      const wrong: string[] = [];
      const check = async () => {
        for (let link = unchecked.pop(); link !== undefined; link = unchecked.pop()) {
          const [slug, longUrl] = link;
          const response = await fetch(`${service.url}/${slug}`, { method: "HEAD", redirect: "manual" });
          if (response.status !== 301 || response.headers.get("location") !== longUrl) wrong.push(slug);
        }
      };
      await Promise.all(Array.from({ length: VISITORS }, check));
      expect(wrong).toEqual([]);
    } finally {
      await service.stop();
    }
  });

  it("has every answered redirect in the log exactly once, and none twice", async () => {
    const times = new Map<string, number>();
    for (const { utm } of await recordedClicks(instance)) {
      if (utm?.content) times.set(utm.content, (times.get(utm.content) ?? 0) + 1);
    }
    expect([...load.answered].filter((mark) => times.get(mark) !== 1)).toEqual([]);
    expect([...times].filter(([mark, count]) => count !== 1 || !load.sent.has(mark))).toEqual([]);
  });

  it("counts in analytics what is in the log", async () => {
    const inLog = new Map<string, number>();
    for (const click of await recordedClicks(instance)) {
      const { slug } = clickFacts(click);
      inLog.set(slug, (inLog.get(slug) ?? 0) + 1);
    }
    const busiest = [...inLog].sort(([, a], [, b]) => b - a).slice(0, 20);
    const service = await startService(instance);
    try {
      const counted = () =>
        Promise.all(busiest.map(async ([slug]) => [slug, await totalClicks(service.url, keys[0], slug)]));
      // A key may ask 500 times an hour.
      await expect.poll(counted, { interval: 1_200 }).toEqual(busiest);
    } finally {
      await service.stop();
    }
  });
});

/** Creates and visits links until the service has ended; resolves then. */
async function startLoad(url: string, keys: readonly string[], load: Load, round: number): Promise<void> {
  const slugs: string[] = [];
  const create = async (key: string) => {
    for (let n = 0; ; n++) {
      const links = Array.from({ length: LINKS_A_REQUEST }, (_, i) => ({
        url: `https://example.com/${round}/${key.slice(-4)}/${n}/${i}`,
      }));
      const response = await send(`${url}/api/v1/shorten/bulk`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ links }),
      });
      if (response?.status !== 201) return;
      const { results } = JSON.parse(response.body) as { results: { slug: string; long_url: string }[] };
      for (const { slug, long_url } of results) {
        load.links.set(slug, long_url);
        slugs.push(slug);
      }
      await pause(20);
    }
  };
  const visit = async (visitor: number) => {
    for (let n = 0; ; n++) {
      const slug = slugs[(n * VISITORS + visitor) % slugs.length];
      if (slug === undefined) await pause(5);
      else {
        const mark = `${round}-${visitor}-${n}`;
        load.sent.add(mark);
        const response = await send(`${url}/${slug}?utm_content=${mark}`, { redirect: "manual" });
        if (response === undefined) return;
        if (response.status === 301) load.answered.add(mark);
      }
    }
  };
  await Promise.all([...keys.map(create), ...Array.from({ length: VISITORS }, (_, i) => visit(i))]);
}

/** Undefined when the service ended before the whole answer was received. */
async function send(
  url: string,
  request: RequestInit,
): Promise<{ status: number; body: string } | undefined> {
  try {
    const response = await fetch(url, request);
    return { status: response.status, body: await response.text() };
  } catch {
    return undefined;
  }
}

async function recordedClicks(instance: Environment): Promise<LinkClicked["data"][]> {
  const backend = await openBackend(parseConfig(instance));
  try {
    const events = await loggedEvents(backend.eventStore, {
      categories: [CATEGORY.clicks],
      limit: 1_000_000,
    });
    return events.filter(({ type }) => type === "LinkClicked").map(({ data }) => data as LinkClicked["data"]);
  } finally {
    await backend.close();
  }
}

async function totalClicks(url: string, key: string | undefined, slug: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/analytics/${slug}`, { headers: { "x-api-key": key ?? "" } });
  const { analytics } = (await response.json()) as { analytics: { totalClicks: number } };
  return analytics.totalClicks;
}
