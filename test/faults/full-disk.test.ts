// A full disk: the service goes on with what it can, says why and what to do at once, and loses nothing that it answered.
import { afterAll, beforeAll, expect, it } from "vitest";
import { stretched } from "../support/runtime/slowness.ts";
import { type SmallDisk, smallDisk } from "../support/runtime/small-disk.ts";
import { until } from "../support/runtime/until.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const FULL = /the disk is full \(SQLITE_FULL\): free some space while the service runs/;
const url = "https://example.com/";

let disk: SmallDisk;
let service: TestService;
let member: Member;
beforeAll(async () => {
  disk = await smallDisk();
  service = await startTestService({ DATA_DIR: disk.path });
  member = await service.member("developer");
});
afterAll(async () => {
  await service.stop();
  await disk.remove();
});

type Health = { status: string; degraded?: { part: string; reason: string }[] };

const health = () => service.ask<Health>("/health/ready");
const shorten = (path = "", body: object = { url }, more = {}) =>
  service.post<{ slug: string; code: string }>(`/api/v1/shorten${path}`, member.key, body, more);
let answered = 0;
const redirect = async (slug: string) => {
  const { status } = await service.ask(`/${slug}`);
  if (status === 301) answered += 1;
  return status;
};
const isDegraded = (part: string) => async () =>
  (await health()).body.degraded?.some((one) => one.part === part && FULL.test(one.reason)) ?? false;
const writeFailing = async () =>
  /^linkledger_event_store_write_failing (\d)$/m.exec((await service.ask("/metrics")).text)?.[1];

it("degrades the service within two seconds and names what to do, until space comes back; nothing answered is lost", async () => {
  const { slug } = (await shorten()).body;
  expect(await redirect(slug)).toBe(301);
  await until("the service to be well", async () => (await health()).body.status === "ready");
  const isStored = async () =>
    (await service.ask("/metrics")).text.includes("\nlinkledger_clicks_unstored 0\n");
  await until("the click to be stored", isStored);

  disk.fill();
  expect(await redirect(slug)).toBe(301);
  const within = { timeout: stretched(2_000) };
  await expect.poll(isDegraded("event store"), within).toBe(true);
  expect((await health()).status).toBe(200);
  expect((await shorten()).body.code).toBe("store_unavailable");
  expect((await shorten("/bulk", { links: [{ url }, { url }] })).status).toBe(503);
  // Nobody is refused for the sake of a count, and nobody waits for longer than a second.
  for (let visit = 0; visit < 60; visit++) {
    const began = performance.now();
    expect(await redirect(slug)).toBe(301);
    expect(performance.now() - began).toBeLessThan(stretched(1_100));
  }
  const reasons = (await health()).body.degraded ?? [];
  expect(reasons.find(({ part }) => part === "click recorder")?.reason).toMatch(/^\d+ clicks wait in memory/);
  expect(await writeFailing()).toBe("1");

  disk.free();
  await expect.poll(async () => (await health()).body.status, { timeout: stretched(5_000) }).toBe("ready");
  expect((await shorten()).status).toBe(201);
  expect(await writeFailing()).toBe("0");
  const lines = service.logged.filter((line) => FULL.test(line));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("The log can't be written");
  const counted = async () =>
    (
      await service.ask<{ analytics: { totalClicks: number } }>(`/api/v1/analytics/${slug}`, {
        key: member.key,
      })
    ).body.analytics.totalClicks;
  await until("every redirect to be counted", async () => (await counted()) === answered, { everyMs: 200 });
});

it("names secrets that can't be written, too, until one is", async () => {
  disk.fill();
  // With an idempotency key the answer is kept as a secret.
  const keyed = await shorten("", { url }, { headers: { "idempotency-key": "full-1" } });
  expect(keyed.status).toBe(503);
  const within = { timeout: stretched(2_000) };
  await expect.poll(isDegraded("secrets"), within).toBe(true);
  disk.free();
  const again = await shorten("", { url }, { headers: { "idempotency-key": "full-1" } });
  expect(again.status).toBe(201);
  await expect.poll(async () => (await health()).body.status, { timeout: stretched(5_000) }).toBe("ready");
});
