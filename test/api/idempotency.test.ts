// Idempotency-Key over real HTTP: repeating a request has no further effect.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { z } from "zod";
import type { BulkAnswerSchema } from "../../src/api/schemas.ts";
import { StoreUnavailable } from "../../src/stores/connections/errors.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import {
  type Member,
  onCluster,
  startTestService,
  type TestService,
} from "../support/service/start-service.ts";

const url = "https://example.com/once";
type Link = { slug: string };

describe("Idempotency-Key", () => {
  let service: TestService;
  let member: Member;
  let madeBefore: number;
  let now = Date.parse("2026-03-01T12:00:00Z");
  const send = (idempotencyKey: string, body: unknown, { key, path }: { key?: string; path?: string } = {}) =>
    service.post<Link & { code: string }>(path ?? "/api/v1/shorten", key ?? member.key, body, {
      headers: { "idempotency-key": idempotencyKey },
    });
  const linksInLog = async () =>
    (await loggedEvents(service.backend.eventStore, { categories: ["link"], limit: 1000 })).length;
  const linksMade = async () => (await linksInLog()) - madeBefore;

  beforeAll(async () => {
    service = await startTestService({}, () => new Date(now));
  });
  beforeEach(async () => {
    madeBefore = await linksInLog();
    member = await service.member("developer");
  });
  afterAll(() => service.stop());

  it("gives the same answer, byte for byte, to the same request", async () => {
    const first = await send("order-1", { url });
    const second = await send("order-1", { url });
    expect([first.status, first.headers["idempotency-replayed"]]).toEqual([201, undefined]);
    expect([second.status, second.headers["idempotency-replayed"], second.text]).toEqual([
      201,
      "true",
      first.text,
    ]);
    expect(second.headers["content-type"]).toBe(first.headers["content-type"]);
    expect(await linksMade()).toBe(1);
  });

  it("gives the answer of a change again, and doesn't change again", async () => {
    const { slug } = (await send("order-1", { url })).body;
    const retitle = (idempotencyKey: string, title: string) =>
      service.ask(`/api/v1/links/${slug}`, {
        ...{ method: "PATCH", key: member.key, body: { title } },
        headers: { "idempotency-key": idempotencyKey },
      });
    const first = await retitle("change-1", "spring");
    await retitle("change-2", "summer");
    const again = await retitle("change-1", "spring");
    expect([again.status, again.headers["idempotency-replayed"], again.text]).toEqual([
      ...[200, "true", first.text],
    ]);
    expect((await service.ask(`/api/v1/links/${slug}`, { key: member.key })).text).toContain("summer");
  });

  it("counts a replay against the limit like any request", async () => {
    const first = await send("order-1", { url });
    const second = await send("order-1", { url });
    const remaining = [first, second].map(({ headers }) => Number(headers["x-ratelimit-remaining"]));
    expect(remaining[1]).toBe((remaining[0] ?? 0) - 1);
  });

  it("lets a refused request be corrected under the same key", async () => {
    const refused = await send("order-1", { url: "ftp://example.com" });
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_url"]);
    const corrected = await send("order-1", { url });
    expect([corrected.status, (await send("order-1", { url })).text]).toEqual([201, corrected.text]);
    expect(await linksMade()).toBe(1);
  });

  it("answers 409 to another body under the same key", async () => {
    await send("order-1", { url });
    const other = await send("order-1", { url: `${url}/other` });
    expect([other.status, other.body.code]).toEqual([409, "idempotency_key_reused"]);
    expect(await linksMade()).toBe(1);
  });

  it("belongs to one API key and one endpoint", async () => {
    const stranger = await service.member("developer");
    await send("order-1", { url });
    expect((await send("order-1", { url: `${url}/b` }, { key: stranger.key })).status).toBe(201);
    expect((await send("order-1", { links: [{ url }] }, { path: "/api/v1/shorten/bulk" })).status).toBe(201);
    expect(await linksMade()).toBe(3);
  });

  it("makes one link of many concurrent requests", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => send("order-1", { url })));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(await linksMade()).toBe(1);
  });

  it.skipIf(onCluster())("makes one link when the first answer was lost before it was kept", async () => {
    const { secrets } = service.backend;
    const put = secrets.put.bind(secrets);
    secrets.put = async () => {
      throw new Error("the process is gone");
    };
    expect((await send("order-1", { url })).status).toBe(500);
    secrets.put = put;
    now += 23 * 3_600_000;
    const retried = await send("order-1", { url });
    expect([retried.status, retried.headers["idempotency-replayed"]]).toEqual([201, undefined]);
    expect((await send("order-1", { url })).text).toBe(retried.text);
    expect(await linksMade()).toBe(1);
    // A day after the first attempt, not after the one whose answer was kept.
    now += 3_600_000;
    expect((await send("order-1", { url })).headers["idempotency-replayed"]).toBeUndefined();
  });

  it("keeps no refusal: the same request works once its cause is gone", async () => {
    const { accountId, key } = await service.member("free");
    const body = { links: [{ url }] };
    const again = () => send("bulk-1", body, { key, path: "/api/v1/shorten/bulk" });
    expect((await again()).status).toBe(402);
    await service.changeTier(accountId, "developer");
    await expect.poll(async () => (await again()).status, { interval: 200 }).toBe(201);
    expect(await linksMade()).toBe(1);
  });

  it("replays a bulk answer with its failures", async () => {
    const body = { links: [{ url }, { url: "nope" }, { url }] };
    const first = await send("bulk-1", body, { path: "/api/v1/shorten/bulk" });
    const second = await send("bulk-1", body, { path: "/api/v1/shorten/bulk" });
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(await linksMade()).toBe(2);
  });

  it.skipIf(onCluster())(
    "makes the rest of a bulk request when it is repeated after the service failed",
    async () => {
      const { eventStore } = service.backend;
      const append = eventStore.append.bind(eventStore);
      let hasFailed = false;
      eventStore.append = async (...request) => {
        if (hasFailed) return append(...request);
        hasFailed = true;
        throw new StoreUnavailable("the store is unavailable");
      };
      const body = { links: [{ url }, { url: "nope" }, { url: `${url}/b` }] };
      const bulk = () =>
        service.post<z.infer<typeof BulkAnswerSchema>>("/api/v1/shorten/bulk", member.key, body, {
          headers: { "idempotency-key": "bulk-2" },
        });
      const first = await bulk();
      eventStore.append = append;
      expect([first.body.created, first.body.failed]).toEqual([1, 2]);
      const second = await bulk();
      expect(second.body.errors.map(({ index }) => index)).toEqual([1]);
      expect(second.body.results).toEqual(expect.arrayContaining(first.body.results));
      expect((await bulk()).text).toBe(second.text);
      expect(await linksMade()).toBe(2);
    },
  );

  it.skipIf(onCluster())(
    "keeps no answer of a bulk request that found the log unavailable: 503",
    async () => {
      const { eventStore } = service.backend;
      const append = eventStore.append.bind(eventStore);
      eventStore.append = () => Promise.reject(new StoreUnavailable("the disk is full"));
      const bulk = () => send("bulk-3", { links: [{ url }, { url }] }, { path: "/api/v1/shorten/bulk" });
      const first = await bulk();
      eventStore.append = append;
      expect([first.status, first.headers["retry-after"]]).toEqual([503, "2"]);
      expect(first.body).toMatchObject({ code: "store_unavailable" });
      expect((await bulk()).status).toBe(201);
      expect(await linksMade()).toBe(2);
    },
  );

  it("is free again after 24 hours", async () => {
    const first = await send("order-1", { url });
    now += 24 * 3_600_000;
    const later = await send("order-1", { url });
    expect(later.status).toBe(201);
    expect(later.body.slug).not.toBe(first.body.slug);
  });

  it.each(["", " ", "a".repeat(256), "caf\u00e9"])(
    "must be 1 to 255 printable ASCII characters: 400 to %j",
    async (key) => {
      const { status, body } = await send(key, { url });
      expect([status, body.code]).toEqual([400, "invalid_idempotency_key"]);
    },
  );

  it("takes 255 characters", async () => {
    expect((await send("a".repeat(255), { url })).status).toBe(201);
  });
});
