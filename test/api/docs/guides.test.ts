// What the guides say of metrics and of visitors' data is what a running service shows and keeps.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LinkClicked } from "../../../src/events/catalogue.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import { createMetrics } from "../../../src/service/monitoring/metrics.ts";
import { observer } from "../../../src/service/monitoring/observe.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { quietParts } from "../../support/monitoring/quiet-parts.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const guide = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), "utf8");

/** Facts that docs/privacy.md tells in words, not by their names. */
const IN_WORDS = ["at", "link", "slug", "linkRevision", "shortUrl", "longUrl", "accountId", "via"];

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
});
afterAll(() => service?.stop());

/** Only the primary of several workers has it: faults/worker-killed waits for it. */
const OF_WORKERS = "linkledger_workers";

it("the operator's guide names metrics that a scrape answers", async () => {
  const named = new Set(guide("operations").match(/linkledger_[a-z_]+/g));
  expect(named.size).toBeGreaterThan(15);
  const missing = async () => {
    const { text } = await service.ask("/metrics");
    const shown = `${text}\n${await metricsWithServers()}`.matchAll(/^# TYPE (\w+)/gm);
    const there = [...[...shown].map(([, name]) => name), OF_WORKERS];
    return [...named].filter((name) => !there.includes(name));
  };
  // Webhooks tell theirs once their stores are open.
  await expect.poll(missing).toEqual([]);
});

it("metrics are named as Prometheus does, and each is in the operator's guide", async () => {
  const { text } = await service.ask("/metrics");
  const types = `${text}\n${await metricsWithServers()}`.matchAll(/^# TYPE (linkledger_\w+) (\w+)/gm);
  const found = new Map([...types].map(([, name = "", type]) => [name, type]));
  expect(found.size).toBeGreaterThan(15);
  const misnamed = [...found].filter(
    ([name, type]) =>
      (type === "counter") !== name.endsWith("_total") ||
      (type === "histogram" && !/_(seconds|bytes)$/.test(name)) ||
      /_(ms|milliseconds|minutes|kb|mb|percent)(_|$)/.test(name),
  );
  expect(misnamed).toEqual([]);
  const named = guide("operations");
  expect([...found.keys()].filter((name) => !named.includes(name))).toEqual([]);
  expect(text).toMatch(/^linkledger_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
});

it("the privacy guide names every fact that is kept of a visit, and the address is its network only", async () => {
  const { key } = await service.member("free");
  const body = { url: "https://example.com/" };
  const { slug } = (await service.post<{ slug: string }>("/api/v1/shorten", key, body)).body;
  const headers = {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "x-forwarded-for": "203.0.113.77",
    "accept-language": "de-DE,de;q=0.9",
    referer: "https://news.example/page?secret=1",
  };
  await service.ask(`/${slug}?utm_source=mail`, { headers });
  const clicks = () => loggedEvents(service.backend.eventStore, { categories: [CATEGORY.clicks], limit: 10 });
  await until("the click in the log", async () => (await clicks()).length > 0);
  const kept = (await clicks())[0]?.data as LinkClicked["data"];
  const named = new Set([...guide("privacy").matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(Object.keys(kept).filter((fact) => !named.has(fact) && !IN_WORDS.includes(fact))).toEqual([]);
  expect(kept).toMatchObject({ ip: "203.0.113.0", referrer: "https://news.example/page" });
  expect(JSON.stringify(kept)).not.toContain("203.0.113.77");
});

/** Of a process with EVENTSTORE_URL and REDIS_URL, which this one does without. */
async function metricsWithServers(): Promise<string> {
  const parts = quietParts({ ofProcess: { redisUnavailable: false } });
  const metrics = createMetrics({ observer: observer(parts) });
  return await metrics.text();
}
