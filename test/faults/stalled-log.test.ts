// A log that takes no writes for seconds, over real HTTP: what redirects answer, and that what they answer is true.

import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { CATEGORY } from "../../src/events/streams.ts";
import { MOST_UNSTORED } from "../../src/redirect/clicks/recorder.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { until } from "../support/runtime/until.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const LONGEST_WAIT_MS = 1_000;

let service: TestService;
afterEach(() => service.stop());

/** One link, and visits of it every 20 ms while the log is locked for that long. */
async function visitsDuring(lockedMs: number, durability: string) {
  service = await startTestService({ CLICK_DURABILITY: durability });
  const { key } = await service.member("developer");
  const made = await service.post<{ slug: string }>("/api/v1/shorten", key, { url: "https://example.com/" });
  const visit = async () => {
    const began = performance.now();
    const { status } = await service.ask(`/${made.body.slug}`);
    return { status, ms: performance.now() - began };
  };
  expect((await visit()).status).toBe(301);
  const lock = new DatabaseSync(`${service.config.dataDir}/events.db`, { timeout: 5_000 });
  lock.exec("BEGIN IMMEDIATE");
  const visits: ReturnType<typeof visit>[] = [];
  const began = performance.now();
  while (performance.now() - began < lockedMs) {
    visits.push(visit());
    await delay(20);
  }
  const atEnd = /^linkledger_clicks_unstored (\d+)$/m.exec((await service.ask("/metrics")).text)?.[1];
  lock.exec("ROLLBACK");
  lock.close();
  const answers = await Promise.all(visits);
  // If durable, the next try to store comes within a second.
  await until("redirects to go on", async () => (await visit()).status === 301);
  const redirected = answers.filter(({ status }) => status === 301).length + 2;
  const refused = answers.filter(({ status }) => status === 503);
  expect(redirected + refused.length).toBe(answers.length + 2);
  const clicks = async () =>
    (await loggedEvents(service.backend.eventStore, { categories: [CATEGORY.clicks], limit: 10_000 })).length;
  await until(`${redirected} clicks`, async () => (await clicks()) >= redirected, { everyMs: 20 });
  expect(await clicks()).toBe(redirected);
  return { answers, refused, unstored: Number(atEnd) };
}

describe("redirects while the log can't be written", () => {
  it("that are durable are answered 503, most of them at once, and are not counted then", async () => {
    const { answers, refused } = await visitsDuring(3_000, "durable");
    expect(refused.length).toBeGreaterThan(50);
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(stretched(LONGEST_WAIT_MS + 100));
    expect(refused.filter(({ ms }) => ms < 50).length).toBeGreaterThan(refused.length / 4);
    // One line for the outage, whatever number was refused.
    const lines = service.logged.filter((line) => line.includes("short links are answered 503"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain("stack");
  });

  it("that are batched are answered as far as may be lost, then wait a second at most, and all are counted", async () => {
    const short = await visitsDuring(700, "batched");
    expect(short.refused).toEqual([]);
    expect(short.answers.filter(({ ms }) => ms < 50).length).toBeGreaterThan(0);
    expect(short.unstored).toBeLessThanOrEqual((MOST_UNSTORED.ms / 20) * 2);
    expect(short.unstored).toBeGreaterThan(0);
    await service.stop();
    const { answers, refused } = await visitsDuring(3_000, "batched");
    expect(refused).toEqual([]);
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(stretched(LONGEST_WAIT_MS + 100));
    // Once nothing was stored for a second, nobody waits.
    expect(answers.filter(({ ms }) => ms < 50).length).toBeGreaterThan(answers.length / 2);
  });
});
