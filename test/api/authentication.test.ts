// API keys over real HTTP (interface, part 5).

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const url = "https://example.com/";

describe("part 5, authentication", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  it("demands a key on every /api/v1 endpoint: a missing one gives 401", async () => {
    const routes = [
      ["POST", "/api/v1/shorten"],
      ["POST", "/api/v1/shorten/bulk"],
      ["GET", "/api/v1/analytics/abcdefg"],
      ["GET", "/api/v1/links"],
    ] as const;
    for (const [method, path] of routes) {
      const { status, body } = await service.ask(path, { method });
      expect([path, status, body.code]).toEqual([path, 401, "invalid_api_key"]);
      expect(body).toMatchObject({ error: expect.any(String), request_id: expect.any(String) });
    }
  });

  it("answers 401 to an invalid key before it looks at the body", async () => {
    const { key } = await service.member("free");
    for (const wrong of [
      "x",
      `${key}x`,
      key.slice(0, -1),
      `ll_${"a".repeat(32)}`,
      "' OR 1=1 --",
      "ll_",
      ` ${key.toUpperCase()}`,
    ]) {
      const { status } = await service.post("/api/v1/shorten", wrong, "{not json");
      expect([wrong, status]).toEqual([wrong, 401]);
    }
  });

  it("accepts a key the moment it is issued", async () => {
    for (let round = 0; round < 10; round++) {
      const { key } = await service.member("free");
      expect((await service.post("/api/v1/shorten", key, { url })).status).toBe(201);
    }
  });

  it("issues keys as <key_prefix>_<32 random characters>", async () => {
    expect((await service.member("free")).key).toMatch(/^ll_[A-Za-z0-9]{32}$/);
  });

  it("refuses a deactivated key within a second", async () => {
    const { key, keyId, accountId } = await service.member("free");
    expect((await service.ask("/api/v1/links", { key })).status).toBe(200);
    await service.deactivateKey(accountId, keyId);
    await expect
      .poll(async () => (await service.ask("/api/v1/links", { key })).status, { timeout: stretched(1_000) })
      .toBe(401);
  });

  it("never stores or logs a key in clear", async () => {
    const { key } = await service.member("free");
    await service.post("/api/v1/shorten", key, { url });
    expect(service.logged.join("")).not.toContain(key);
    const events = await loggedEvents(service.backend.eventStore, { categories: ["account"], limit: 10_000 });
    expect(JSON.stringify(events)).not.toContain(key.slice(3));
  });
});
