// What a key may be used for, from where, until when, and how it is rotated, over real HTTP.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KEY_SCOPES, type KeyScope } from "../../src/events/vocabulary.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

type Operation = {
  operationId: string;
  security?: { apiKey?: string[] }[];
  responses: Record<string, unknown>;
};
type Document = { paths: Record<string, Record<string, Operation>> };

const HOUR_MS = 3_600_000;
const START = Date.parse("2026-05-01T00:00:00Z");
const url = "https://example.com/";
let now = START;
let service: TestService;
let member: Member;

beforeAll(async () => {
  service = await startTestService(
    { TRUST_PROXY: "127.0.0.1/32", BASE_HOST_SLUGS: "true" },
    () => new Date(now),
  );
});
afterAll(() => service.stop());

const from = (key: string, address?: string) =>
  service.ask<{ code?: string; error?: string }>("/api/v1/links", {
    key,
    headers: address === undefined ? {} : { "x-forwarded-for": address },
  });
const iso = (at: number) => new Date(at).toISOString();
const status = async (key: string) => (await from(key)).status;

describe("the scopes of a key", () => {
  let operations: { method: string; path: string; operation: Operation }[];
  beforeAll(async () => {
    member = await service.member("developer");
    const { paths } = (await service.ask<Document>("/openapi.json")).body;
    operations = Object.entries(paths)
      .filter(([path]) => path.startsWith("/api/v1/"))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          method: method.toUpperCase(),
          path,
          operation,
        })),
      );
  });

  it("are said of every operation: one, of the four that there are", () => {
    expect(operations.length).toBeGreaterThan(16);
    for (const { operation } of operations) {
      const [requirement, ...others] = operation.security ?? [];
      expect([operation.operationId, others]).toEqual([
        operation.operationId,
        [{ bearer: requirement?.apiKey }],
      ]);
      expect(requirement?.apiKey).toHaveLength(1);
      expect(KEY_SCOPES).toContain(requirement?.apiKey?.[0]);
      expect(operation.responses).toHaveProperty("403");
    }
    const named = new Set(operations.map(({ operation }) => operation.security?.[0]?.apiKey?.[0]));
    expect([...named].sort()).toEqual([...KEY_SCOPES].sort());
  });

  it.each(KEY_SCOPES)(
    "%s opens its own operations, and is told of the others what is missing",
    async (scope) => {
      const other = await service.member("developer");
      const { key } = await service.issueKey(other.accountId, { scopes: [scope] });
      for (const { method, path, operation } of operations) {
        const wanted = operation.security?.[0]?.apiKey?.[0] as KeyScope;
        // Refused for what it says or lacks, where it is let in; streams, too, which would go on.
        const address = `${path.replace("{slug}", "nosuch0")}?after=no%20position&limit=nonsense&from=nonsense`;
        const answer = await service.ask<{ code?: string; error?: string }>(address, { method, key });
        const name = `${method} ${path}`;
        if (wanted === scope) {
          expect([name, answer.body.code]).not.toEqual([name, "missing_scope"]);
          expect([name, answer.status]).not.toEqual([name, 500]);
        } else {
          expect([name, answer.status, answer.body.code]).toEqual([name, 403, "missing_scope"]);
          expect(answer.body.error).toContain(wanted);
          expect(answer.headers["x-ratelimit-limit"]).toBe("500");
        }
        now += 10_000;
      }
    },
  );

  it("are all but that of members of a key that was issued without a choice", async () => {
    const other = await service.member("developer");
    const { key } = await service.issueKey(other.accountId, { scopes: [...KEY_SCOPES] });
    for (const one of [other.key, key]) {
      expect((await service.post("/api/v1/shorten", one, { url })).status).toBe(201);
      for (const path of ["/api/v1/links", "/api/v1/events"])
        expect([path, (await service.ask(path, { key: one })).status]).toEqual([path, 200]);
    }
    const members = (one: string) => service.ask("/api/v1/members", { key: one });
    expect([(await members(other.key)).status, (await members(key)).status]).toEqual([403, 200]);
  });

  it("are refused where they are none, or unknown", async () => {
    const wrong = (scopes: string[]) => service.issueKey(member.accountId, { scopes });
    await expect(wrong([])).rejects.toMatchObject({ code: "invalid_key", field: "scopes" });
    await expect(wrong(["links:delete"])).rejects.toThrow(
      "links:delete is no scope: there are links:read, links:write, analytics:read, analytics:share, events:read, members",
    );
  });
});

describe("a key as Authorization: Bearer", () => {
  const asked = (headers: Record<string, string>) => service.ask("/api/v1/links", { headers });

  it("is taken like X-API-Key, in any case of the scheme, and counted as the same key", async () => {
    const { key } = await service.member("free");
    for (const scheme of ["Bearer", "bearer", "BEARER  "])
      expect((await asked({ authorization: `${scheme} ${key}` })).status).toBe(200);
    expect((await asked({ authorization: `Bearer ${key}`, "x-api-key": "" })).status).toBe(200);
    expect((await service.ask("/api/v1/links", { key })).headers["x-ratelimit-remaining"]).toBe("45");
  });

  it("is refused like one, and not looked at beside X-API-Key", async () => {
    const { key } = await service.member("free");
    const wrong = `ll_${"x".repeat(32)}`;
    for (const headers of [
      { authorization: `Bearer ${wrong}` },
      { authorization: `Basic ${key}` },
      { authorization: `Bearer ${key}`, "x-api-key": wrong },
    ] as Record<string, string>[])
      expect((await asked(headers)).status).toBe(401);
  });
});

describe("a key that expires", () => {
  it("works until then, is 401 key_expired from then on, and makes room for another", async () => {
    const { accountId } = await service.member("free");
    const expiresAt = new Date(now + HOUR_MS);
    const { key } = await service.issueKey(accountId, { expiresAt });
    await expect(service.issueKey(accountId)).rejects.toMatchObject({ code: "key_limit_reached" });
    now += HOUR_MS - 1;
    expect(await status(key)).toBe(200);
    now += 1;
    const { status: refused, body, headers } = await from(key);
    expect([refused, body.code]).toEqual([401, "key_expired"]);
    expect(body.error).toContain(expiresAt.toISOString());
    expect(headers["x-ratelimit-limit"]).toBe("500");
    expect(await status((await service.issueKey(accountId)).key)).toBe(200);
  });

  it("can't be issued for a time that is over", async () => {
    const { accountId } = await service.member("free");
    await expect(service.issueKey(accountId, { expiresAt: new Date(now) })).rejects.toMatchObject({
      code: "invalid_key",
      field: "expires_at",
    });
  });

  it("ends an open stream of events", async () => {
    const { accountId } = await service.member("developer");
    const { key } = await service.issueKey(accountId, { expiresAt: new Date(now + HOUR_MS) });
    const response = await fetch(`${service.url}/api/v1/events/stream`, { headers: { "x-api-key": key } });
    expect(response.status).toBe(200);
    now += HOUR_MS;
    await Promise.race([
      response.text(),
      new Promise((_, reject) =>
        setTimeout(() => reject(new Error("still open")), stretched(15_000)).unref(),
      ),
    ]);
  }, 60_000);
});

describe("a key that may be used from some networks", () => {
  it("works from their addresses, IPv4 and IPv6, behind a trusted proxy, and is 403 from others", async () => {
    const { accountId } = await service.member("developer");
    const networks = ["203.0.113.77/24", "2001:DB8:0::/32", "198.51.100.7"];
    const { key } = await service.issueKey(accountId, { networks });
    for (const [address, expected] of [
      ["203.0.113.1", 200],
      ["::ffff:203.0.113.254", 200],
      ["203.0.114.1", 403],
      ["198.51.100.7", 200],
      ["198.51.100.8", 403],
      ["2001:db8:ffff::1", 200],
      ["2001:db9::1", 403],
      // The nearest hop that is no trusted proxy: whatever a client claims comes before it.
      ["203.0.113.1, 192.0.2.1", 403],
    ] as const) {
      const answer = await from(key, address);
      expect([address, answer.status]).toEqual([address, expected]);
      if (expected === 403) expect(answer.body.code).toBe("address_not_allowed");
    }
    expect((await from(key)).status).toBe(403);
  });

  it("counts a refused address against that address, and nothing against the key", async () => {
    const { accountId } = await service.member("free");
    const { key } = await service.issueKey(accountId, { networks: ["203.0.113.0/24"] });
    const first = await from(key, "203.0.113.5");
    const refused = await from(key, "192.0.2.99");
    const again = await from(key, "192.0.2.99");
    const second = await from(key, "203.0.113.5");
    const left = [first, refused, again, second].map(({ headers }) =>
      Number(headers["x-ratelimit-remaining"]),
    );
    expect(left).toEqual([49, 499, 498, 48]);
  });

  it("refuses what is no network", async () => {
    const { accountId } = await service.member("developer");
    for (const network of [
      "",
      "203.0.113.0/33",
      "203.0.113",
      "::1/129",
      "010.0.0.1",
      "::ffff:10.0.0.0/104",
      "a.b",
      "1.2.3.4/8/8",
      "fe80::1%eth0",
    ])
      await expect(service.issueKey(accountId, { networks: [network] }), network).rejects.toMatchObject({
        code: "invalid_key",
        field: "networks",
      });
    const many = Array.from({ length: 21 }, (_, n) => `192.0.2.${n}`);
    await expect(service.issueKey(accountId, { networks: many })).rejects.toMatchObject({
      code: "invalid_key",
    });
  });
});

describe("a rotated key", () => {
  it("is one key with two texts until the overlap ends, within the limits of two", async () => {
    const { accountId, key, keyId } = await service.member("free");
    await service.issueKey(accountId);
    const rotated = await service.rotateKey(accountId, keyId, 2);
    expect(rotated.key).not.toBe(key);
    expect(rotated.earlier).toEqual([{ hint: key.slice(-4), until: iso(now + 2 * HOUR_MS) }]);
    const remaining = async (one: string) => Number((await from(one)).headers["x-ratelimit-remaining"]);
    const before = await remaining(rotated.key);
    // One key, one limit.
    expect(await remaining(key)).toBe(before - 1);
    now += 2 * HOUR_MS;
    expect((await from(key)).body.code).toBe("key_expired");
    expect(await status(rotated.key)).toBe(200);
  });

  it("keeps what each rotation promised when it is rotated again, and ends all texts when it is deactivated", async () => {
    const { accountId, key, keyId } = await service.member("developer");
    const second = await service.rotateKey(accountId, keyId, 2);
    const third = await service.rotateKey(accountId, keyId, 24);
    expect(third.earlier).toEqual([
      { hint: key.slice(-4), until: iso(now + 2 * HOUR_MS) },
      { hint: second.key.slice(-4), until: iso(now + 24 * HOUR_MS) },
    ]);
    const texts = [key, second.key, third.key];
    const statuses = () => Promise.all(texts.map(status));
    expect(await statuses()).toEqual([200, 200, 200]);
    now += 2 * HOUR_MS;
    expect(await statuses()).toEqual([401, 200, 200]);
    await service.deactivateKey(accountId, keyId);
    await expect.poll(statuses, { timeout: stretched(2_000) }).toEqual([401, 401, 401]);
    await expect(service.rotateKey(accountId, keyId)).rejects.toMatchObject({ code: "key_not_active" });
  });

  it("has one text alone at once where it leaked, and an hour for all where that was chosen", async () => {
    const { accountId, key, keyId } = await service.member("developer");
    const second = await service.rotateKey(accountId, keyId, 24);
    const third = await service.rotateKey(accountId, keyId, 1);
    const hour = iso(now + HOUR_MS);
    expect(third.earlier.map(({ until }) => until)).toEqual([hour, hour]);
    const last = await service.rotateKey(accountId, keyId, 0);
    expect(last.earlier).toEqual([]);
    const statuses = () => Promise.all([key, second.key, third.key, last.key].map(status));
    await expect.poll(statuses, { timeout: stretched(2_000) }).toEqual([401, 401, 401, 200]);
  });

  it("keeps its links, scopes, networks and end, and no text in clear", async () => {
    const { accountId } = await service.member("developer");
    const { key, keyId } = await service.issueKey(accountId, {
      scopes: ["links:read", "links:write"],
      expiresAt: new Date(now + HOUR_MS),
    });
    await service.post("/api/v1/shorten", key, { url });
    const rotated = await service.rotateKey(accountId, keyId, 24);
    expect(rotated.earlier).toEqual([{ hint: key.slice(-4), until: iso(now + HOUR_MS) }]);
    const listed = await service.ask<{ total: number }>("/api/v1/links", { key: rotated.key });
    expect(listed.body.total).toBe(1);
    expect((await service.ask("/api/v1/events", { key: rotated.key })).status).toBe(403);
    const events = await loggedEvents(service.backend.eventStore, { categories: ["account"], limit: 10_000 });
    expect(JSON.stringify(events)).not.toContain(rotated.key.slice(3));
    now += HOUR_MS;
    expect([await status(key), await status(rotated.key)]).toEqual([401, 401]);
  });
});
