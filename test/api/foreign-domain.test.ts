// A hostname that an account has added but not verified changes nothing for the account that serves it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addDomain, removeDomain } from "../../src/commands/domains/change-domains.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { operator } from "../support/commands/command-deps.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const HOST = "go.example.com";
const ROUNDS = 40;

describe("a custom domain that another account adds and removes in a loop", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  it("keeps redirecting, at every request", async () => {
    const [owner, stranger] = [await service.member("developer"), await service.member("developer")];
    const domainId = await service.domain(owner.accountId, HOST);
    const made = await service.post<{ slug: string }>("/api/v1/shorten", owner.key, {
      url: "https://example.com/",
      domain_id: domainId,
    });
    expect(made.status).toBe(201);
    const statuses = new Map<number, number>();
    let isLooping = true;
    const visiting = (async () => {
      while (isLooping) {
        const { status } = await service.ask(`/${made.body.slug}`, { host: HOST });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    })();
    const { eventStore } = service.backend;
    const deps = { ...runtimeDeps, eventStore, baseHost: "localhost" };
    for (let round = 0; round < ROUNDS; round++) {
      await addDomain(deps, operator, stranger.accountId, HOST);
      await removeDomain(deps, operator, stranger.accountId, HOST);
    }
    isLooping = false;
    await visiting;
    expect(Object.fromEntries(statuses)).toEqual({ 301: expect.any(Number) });
    expect(statuses.get(301)).toBeGreaterThan(ROUNDS / 2);
  });
});
