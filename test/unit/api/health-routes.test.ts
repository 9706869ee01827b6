// How often readiness is computed, however often it is asked for.
import Fastify from "fastify";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Api } from "../../../src/api/fastify.ts";
import { memoryRateLimits } from "../../../src/api/limits/rate-limit.memory.ts";
import { healthRoutes } from "../../../src/api/operations/operations-routes.ts";

const clock = () => new Date();

describe("/health/ready", () => {
  let app: Api;
  let ready: boolean;
  let computed: number;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
    [ready, computed] = [false, 0];
    app = Fastify() as unknown as Api;
    const readiness = async () => {
      computed += 1;
      return { ready, reasons: [], degraded: [] };
    };
    const operator = { adminToken: undefined, rateLimits: memoryRateLimits(), clock };
    healthRoutes(app, { readiness, operator });
  });
  afterEach(() => {
    vi.useRealTimers();
    return app.close();
  });

  const status = async () => (await app.inject("/health/ready")).statusCode;

  it("is computed ten times a second until the first time that it is ready, then once", async () => {
    expect(await status()).toBe(503);
    ready = true;
    vi.advanceTimersByTime(99);
    expect(await status()).toBe(503);
    vi.advanceTimersByTime(1);
    expect(await status()).toBe(200);
    // The first look by the rule for a process that has been ready.
    expect(await status()).toBe(200);
    ready = false;
    vi.advanceTimersByTime(999);
    expect(await status()).toBe(200);
    expect(computed).toBe(3);
    vi.advanceTimersByTime(1);
    expect(await status()).toBe(503);
  });
});
