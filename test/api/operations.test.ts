// Health, metrics, logs and the OpenAPI document, as an operator sees them (interface, part 9).

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SCOPES } from "../../src/api/route-scopes.ts";
import { VERSION } from "../../src/config/version.ts";
import { EVENT_TYPES } from "../../src/events/catalogue.ts";
import { START } from "../../src/stores/event-store/port.ts";
import { onCluster, startTestService, type TestService } from "../support/service/start-service.ts";

type Operation = { responses: Record<string, { headers?: object; content?: object }>; security?: unknown };
type OpenApi = {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown>; securitySchemes: object };
};

const TOKEN = "operator-token-0123456789";
const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

describe("operations", () => {
  let service: TestService;
  let key: string;
  let slug: string;

  beforeAll(async () => {
    service = await startTestService({ ADMIN_TOKEN: TOKEN, TRUST_PROXY: "127.0.0.1", LOG_LEVEL: "trace" });
    key = (await service.member("free")).key;
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      url: "https://example.com/?private=query",
    });
    slug = body.slug;
  });
  afterAll(() => service.stop());

  const ready = async () => (await service.ask("/health/ready")).status;

  it("is live, and ready with no reason against it", async () => {
    expect((await service.ask("/health/live")).body).toEqual({ status: "live" });
    await expect.poll(ready).toBe(200);
    const ofOperator = { status: "ready", version: VERSION, reasons: [] };
    expect((await service.ask("/health/ready")).body).toEqual(ofOperator);
  });

  it.skipIf(onCluster())(
    "shows the operator which part is not ready with 503, and others only that it is not",
    async () => {
      const { readStore, eventStore } = service.backend;
      const [checkpoints, head] = [readStore.checkpoints, eventStore.head];
      readStore.checkpoints = () => Promise.reject(new Error("away"));
      const { promise: hangs, resolve: goOn } = Promise.withResolvers<string>();
      eventStore.head = () => hangs;
      await expect.poll(ready).toBe(503);
      const health = (headers: Record<string, string>) => service.ask("/health/ready", { headers });
      const [here, stranger, operator] = [
        await health({}),
        await health({ "x-forwarded-for": "203.0.113.9" }),
        await health({ "x-forwarded-for": "203.0.113.9", authorization: `Bearer ${TOKEN}` }),
      ];
      Object.assign(readStore, { checkpoints });
      Object.assign(eventStore, { head });
      goOn(START);
      expect([here, stranger, operator].map(({ status }) => status)).toEqual([503, 503, 503]);
      // On a busy machine the projector may not answer in time either.
      expect(here.body.reasons).toEqual(
        expect.arrayContaining([
          { part: "event store", reason: "does not answer" },
          { part: "read store", reason: "is unavailable" },
        ]),
      );
      expect(operator.body).toEqual(here.body);
      expect(stranger.body).toEqual({ status: "not ready" });
      await expect.poll(ready).toBe(200);
    },
  );

  it("shows others nothing but that it is ready, on every host and through a proxy", async () => {
    for (const forwarded of [
      { "x-forwarded-for": "203.0.113.9" },
      { forwarded: "for=203.0.113.9" },
      { "x-real-ip": "203.0.113.9" },
      { via: "1.1 proxy" },
      { "x-forwarded-for": "203.0.113.9", authorization: "Bearer wrong" },
    ])
      for (const host of ["localhost", "unknown.example.org"]) {
        const { status, text } = await service.ask("/health/ready", { host, headers: forwarded });
        expect([forwarded, status, text]).toEqual([forwarded, 200, '{"status":"ready"}']);
      }
  });

  it.skipIf(onCluster())(
    "queries the stores for /health/ready four times a second at most, however often it is requested",
    async () => {
      const { readStore } = service.backend;
      const { checkpoints } = readStore;
      let queries = 0;
      readStore.checkpoints = () => {
        queries += 1;
        return checkpoints.call(readStore);
      };
      const startedAt = performance.now();
      await Promise.all(Array.from({ length: 300 }, ready));
      const seconds = (performance.now() - startedAt) / 1000;
      Object.assign(readStore, { checkpoints });
      expect(queries).toBeLessThanOrEqual(Math.ceil(4 * seconds) + 1);
    },
  );

  it.skipIf(onCluster())(
    "answers 503 with Retry-After while a store is unavailable, 500 when that lasts, and 500 without a stack for an internal error",
    async () => {
      const { readStore, eventStore } = service.backend;
      const { find, get } = readStore;
      const append = eventStore.append.bind(eventStore);
      // The log too, as a create whose account is in memory needs no document.
      const failWith = (error: Error) => {
        const fail = () => Promise.reject(error);
        Object.assign(readStore, { find: fail, get: fail });
        Object.assign(eventStore, { append: fail });
      };
      const { StoreFailed, StoreUnavailable } = await import("../../src/stores/connections/errors.ts");
      failWith(new StoreUnavailable("read.db: disk gone"));
      const unavailable = await service.post("/api/v1/shorten", key, { url: "https://example.com/" });
      const unread = await service.ask("/api/v1/links", { key });
      failWith(new StoreFailed("read.db: disk gone"));
      const lasting = await service.ask("/api/v1/links", { key });
      failWith(new TypeError("cannot read secret.path"));
      const broken = await service.post("/api/v1/shorten", key, { url: "https://example.com/" });
      const list = await service.ask("/api/v1/links", { key });
      Object.assign(readStore, { find, get });
      Object.assign(eventStore, { append });
      expect([unavailable.status, unavailable.body.code]).toEqual([503, "store_unavailable"]);
      expect(Number(unavailable.headers["retry-after"])).toBeGreaterThan(0);
      expect([unread.status, unread.body.code]).toEqual([503, "store_unavailable"]);
      expect([lasting.status, lasting.body.code]).toEqual([500, "store_failed"]);
      expect(lasting.headers).not.toHaveProperty("retry-after");
      expect([broken.status, broken.body.error]).toEqual([500, "Failed to create the short link"]);
      expect([list.status, list.body.code]).toEqual([500, "internal_error"]);
      expect(`${unavailable.text}${lasting.text}${broken.text}${list.text}`).not.toMatch(
        /disk gone|secret\.path|\.ts/,
      );
    },
  );

  it("shows metrics to a loopback peer, else only to who knows ADMIN_TOKEN", async () => {
    const through = { "x-forwarded-for": "203.0.113.9" };
    expect((await service.ask("/metrics")).status).toBe(200);
    expect((await service.ask("/metrics", { headers: through })).status).toBe(404);
    const wrong = { ...through, authorization: "Bearer wrong" };
    expect((await service.ask("/metrics", { headers: wrong })).status).toBe(404);
    const right = { ...through, authorization: `Bearer ${TOKEN}` };
    expect((await service.ask("/metrics", { headers: right })).status).toBe(200);
  });

  it("lets an address guess the token as often as the console does, on all routes together", async () => {
    const from = (address: string, token: string, path = "/metrics") =>
      service.ask<{ status: string; reasons?: object }>(path, {
        headers: { "x-forwarded-for": address, authorization: `Bearer ${token}` },
      });
    const [guesser, scraper] = ["198.51.100.7", "198.51.100.8"];
    for (let n = 0; n < 5; n += 1) {
      expect((await from(guesser, TOKEN)).status).toBe(200);
      expect((await from(guesser, `wrong-${n}`)).status).toBe(404);
      expect((await from(guesser, `wrong-${n}`, "/health/ready")).body).not.toHaveProperty("reasons");
      expect((await from(guesser, `wrong-${n}`, "/admin/api/streams")).status).toBe(401);
    }
    // Answered like a stranger, so that the right guess shows nothing.
    expect((await from(guesser, TOKEN)).status).toBe(404);
    expect((await from(guesser, TOKEN, "/health/ready")).body).not.toHaveProperty("reasons");
    expect((await from(guesser, TOKEN, "/admin/api/streams")).status).toBe(429);
    expect((await service.ask("/metrics")).status).toBe(200);
    expect((await from(scraper, TOKEN)).status).toBe(200);
    expect((await from(scraper, TOKEN, "/health/ready")).body).toHaveProperty("reasons");
  });

  it("measures requests, redirects, clicks, appends and projections", async () => {
    await service.ask(`/${slug}`, { headers: { "user-agent": AGENT } });
    await service.ask("/no-such-slug");
    const upToDate = async () =>
      (await service.ask("/metrics")).text.includes('lag_seconds{projection="lifecycle"} 0');
    await expect.poll(upToDate).toBe(true);
    // Twice, so that on a cluster both nodes are read.
    const text = (await service.ask("/metrics")).text + (await service.ask("/metrics")).text;
    expect(text).toMatch(
      /linkledger_http_request_duration_seconds_count\{method="POST",route="\/api\/v1\/shorten",status="201"\} \d/,
    );
    expect(text).toMatch(/linkledger_redirects_total\{outcome="found"\} [1-9]/);
    expect(text).toMatch(/linkledger_redirects_total\{outcome="not_found"\} [1-9]/);
    expect(text).toMatch(/linkledger_click_append_duration_seconds_bucket\{le="\+Inf"\}/);
    for (const name of ["lag_seconds", "behind_events", "set_aside_events", "waits"])
      expect(text).toMatch(new RegExp(`linkledger_projection_${name}\\{projection="lifecycle"\\} 0`));
    expect(text).toMatch(/process_cpu_seconds_total/);
    expect(text).not.toContain(slug);
  });

  it("logs request ids and routes, and no key, e-mail, address, slug or query", async () => {
    const headers = {
      "x-forwarded-for": "203.0.113.77",
      "x-request-id": "find-me-again",
      "user-agent": AGENT,
    };
    const before = service.logged.length;
    await service.ask(`/api/v1/links?q=private-words`, { key, headers });
    await service.ask(`/${slug}?private=visit`, { headers });
    await service.ask("/api/v1/analytics/%zz?private=bad", { headers });
    const logged = () => service.logged.slice(before).join("");
    await expect
      .poll(logged)
      .toMatch(/"request_id":"find-me-again".*"route":"\/api\/v1\/links","status":200/);
    const lines = logged();
    expect(lines).not.toMatch(/203\.0\.113\.77|127\.0\.0\.1"|private|@example|Firefox/);
    expect(lines).not.toContain(key);
    expect(lines).not.toContain(slug);
  });

  it("logs no line per redirect", async () => {
    const before = service.logged.length;
    for (let n = 0; n < 5; n++) await service.ask(`/${slug}`);
    expect(service.logged.length).toBe(before);
  });

  it("part 9: describes every endpoint under /api/v1 in one OpenAPI 3.1 document", async () => {
    const { body } = await service.ask<OpenApi>("/openapi.json");
    expect(body.openapi).toMatch(/^3\.1/);
    expect(body.info.version).toBe(VERSION);
    const operations = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const routes = Object.keys(SCOPES).map((name) => name.replace(/:(\w+)/g, "{$1}"));
    expect(operations.filter((name) => !name.startsWith("HEAD")).sort()).toEqual(
      ["GET /{slug}", "GET /api/qr/{slug}", ...routes].sort(),
    );
    const shorten = body.paths["/api/v1/shorten"]?.post;
    expect(Object.keys(shorten?.responses ?? {})).toEqual([
      "200",
      "201",
      "400",
      "401",
      "402",
      "403",
      "409",
      "422",
      "429",
      "500",
      "503",
    ]);
    expect(shorten?.responses["201"]?.headers).toHaveProperty("X-RateLimit-Remaining");
    expect(body.components.securitySchemes).toEqual({
      apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
      bearer: { type: "http", scheme: "bearer" },
    });
    expect(Object.keys(body.components.schemas)).toEqual(
      expect.arrayContaining(EVENT_TYPES.flatMap((type) => [`${type}Data`, `${type}Event`])),
    );
    const missing = [...JSON.stringify(body).matchAll(/#\/components\/schemas\/(\w+)/g)].filter(
      ([, name]) => !(name !== undefined && name in body.components.schemas),
    );
    expect(missing).toEqual([]);
    // Generators of clients for Python and Go fail on it (test/clients).
    expect(JSON.stringify(body)).not.toContain('"type":"null"');
  });

  it("describes with its code what an address that can't be decoded is answered", async () => {
    const { paths } = (await service.ask<OpenApi>("/openapi.json")).body;
    for (const path of ["/api/qr/{slug}", "/api/v1/analytics/{slug}"]) {
      const { status, body } = await service.ask<{ code: string }>(path.replace("{slug}", "%zz"), { key });
      const described = JSON.stringify(paths[path]?.get?.responses[status]);
      expect([path, status, described]).toEqual([path, 400, expect.stringContaining(`\`${body.code}\``)]);
    }
  });

  it("shows the document to readers under /docs, with nothing from elsewhere", async () => {
    for (const path of ["/docs", "/docs/", "/docs/links", "/docs/search?q=link"]) {
      const { status, text, headers } = await service.ask(path);
      expect(status).toBe(200);
      expect(text).toContain("Create a short link");
      expect(headers["content-security-policy"]).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
    }
    expect((await service.ask("/docs/docs.css")).headers["content-type"]).toMatch(/^text\/css/);
  });

  it("shows a visitor of the root where the docs are", async () => {
    expect((await service.ask("/")).body).toMatchObject({
      service: "linkledger",
      docs: "http://localhost/docs",
    });
  });
});
