// Reserved words: on a custom domain those that answer on every host, on the base host the first segments of routes.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issueKey } from "../../src/commands/account/change-keys.ts";
import { openAccount } from "../../src/commands/account/sign-up.ts";
import { addDomain, verifyDomain } from "../../src/commands/domains/change-domains.ts";
import { RESERVED_WORDS } from "../../src/commands/links/slug.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { type Config, parseConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/runtime/logging.ts";
import { rolesFrom } from "../../src/service/roles/role.ts";
import { openService, type Service } from "../../src/service/service.ts";
import { operator } from "../support/commands/command-deps.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { type Ask, send } from "../support/service/ask.ts";
import { BASE_URL } from "../support/service/start-service.ts";

const HOST = "go.example.org";
const SLUGS = [...RESERVED_WORDS, "swagger"].filter(
  (word, n, all) => /^[a-z]{3,}$/.test(word) && word !== "health" && all.indexOf(word) === n,
);
const log = createLogger("silent");

describe("reserved words", () => {
  let folder: TemporaryFolder;
  let config: Config;
  let all: Service;
  let key: string;
  let domain_id: string;
  const routes = new Set<string>();
  const watch = (message: unknown) => {
    const { fastify } = message as {
      fastify: { addHook(name: "onRoute", hook: (route: { url: string }) => void): void };
    };
    fastify.addHook("onRoute", ({ url }) => void routes.add(url));
  };

  beforeAll(async () => {
    subscribe("fastify.initialization", watch);
    folder = await temporaryFolder();
    const ADMIN_TOKEN = "0123456789abcdef0123456789abcdef";
    config = parseConfig({ PORT: "0", BASE_URL, DATA_DIR: folder.path, ADMIN_TOKEN });
    all = await openService(config, log);
    const { eventStore, secrets } = all.backend;
    const deps = {
      ...runtimeDeps,
      eventStore,
      secrets,
      keyPrefix: config.keyPrefix,
      baseHost: config.baseHost,
    };
    const { accountId } = await openAccount(deps, operator, { email: "a@example.com", tier: "developer" });
    ({ key } = await issueKey(deps, operator, accountId, {}));
    await addDomain(deps, operator, accountId, HOST);
    const noDns = { ...deps, resolveTxt: async () => [] };
    domain_id = (await verifyDomain(noDns, operator, accountId, HOST, { skipDns: true })).domainId;
  }, 120_000);
  afterAll(async () => {
    unsubscribe("fastify.initialization", watch);
    await all?.stop();
    await folder.remove();
  });

  const ask = <T>(service: Service, path: string, given: Ask = {}) =>
    send<T>(Number(new URL(service.url).port), path, given);
  const shorten = (customSlug: string) =>
    ask<{ short_url: string; code: string }>(all, "/api/v1/shorten", {
      method: "POST",
      key,
      body: { url: `https://example.com/${customSlug}`, domain_id, customSlug },
    });

  it("are accepted as slugs of a custom domain, all but health", async () => {
    for (const slug of SLUGS) expect([slug, (await shorten(slug)).status]).toEqual([slug, 201]);
    const { status, body } = await shorten("Health");
    expect([status, body.code]).toEqual([422, "invalid_slug"]);
  });

  it.each(["redirect", "redirect,api", "redirect,portal", "redirect,projector,webhooks", ""])(
    "redirect on a custom domain, and stay what they are on the base host, with the roles %s",
    { timeout: 60_000 },
    async (roles) => {
      const service = roles === "" ? all : await openService(config, log, { roles: rolesFrom(roles) });
      const onDomain = async (path: string, method = "GET") => {
        const { status, headers } = await ask(service, path, { host: HOST, method });
        return [path, status, headers.location];
      };
      try {
        for (const slug of SLUGS) {
          const base = await ask(service, `/${slug}`);
          const there = `https://example.com/${slug}`;
          // The first request is looked up, the others are served from the cache.
          for (const path of [`/${slug}`, `/${slug.toUpperCase()}?qr=1`, `/${slug}`])
            expect(await onDomain(path)).toEqual([path, 301, there]);
          const encoded = `/%${slug.charCodeAt(0).toString(16)}${slug.slice(1)}`;
          expect(await onDomain(encoded)).toEqual([encoded, 301, there]);
          expect(await onDomain(`/${slug}`, "HEAD")).toEqual([`/${slug}`, 301, there]);
          expect(await onDomain(`/${slug}/`)).toEqual([`/${slug}/`, 301, there]);
          expect((await ask(service, `/${slug}/`)).headers.location).not.toBe(there);
          expect((await ask(service, `/${slug}//`, { host: HOST })).status).toBe(404);
          expect((await ask(service, `/${slug}`, { host: HOST, method: "POST", body: "{}" })).status).toBe(
            404,
          );
          const after = await ask(service, `/${slug}`);
          expect([slug, after.status, after.headers.location]).toEqual([
            slug,
            base.status,
            base.headers.location,
          ]);
          expect(after.headers.location).not.toBe(there);
        }
        expect((await ask(service, "/docs", { host: "unknown.example.org" })).status).toBe(404);
        expect((await ask(service, "/health/live", { host: HOST })).status).toBe(200);
      } finally {
        if (service !== all) await service.stop();
      }
    },
  );

  it("are the first words of the routes that exist, and no others", { timeout: 60_000 }, async () => {
    for (const roles of ["api", "portal"])
      await (await openService(config, log, { roles: rolesFrom(roles) })).stop();
    const first = [...routes].map((url) => url.split("/")[1] ?? "");
    const words = new Set(first.filter((word) => word !== "" && word !== "*" && !word.startsWith(":")));
    expect([...words].sort()).toEqual([...RESERVED_WORDS].sort());
  });

  it("lead to the nodes of the API and the portal behind the shipped Caddy, all but internal", async () => {
    const caddyfile = await readFile("deploy/Caddyfile", "utf8");
    const patterns = /^\s*@api path (.+)$/m.exec(caddyfile)?.[1]?.split(" ") ?? [];
    const firstWords = new Set(patterns.map((pattern) => pattern.split("/")[1]));
    expect([...firstWords].sort()).toEqual(
      ["", ...RESERVED_WORDS].filter((word) => word !== "internal").sort(),
    );
    const isOfApi = (url: string) =>
      patterns.some(
        (pattern) => pattern === url || (pattern.endsWith("/*") && url.startsWith(pattern.slice(0, -1))),
      );
    const reserved = [...routes].filter((url) => RESERVED_WORDS.has(url.split("/")[1] ?? ""));
    expect(reserved.filter((url) => !url.startsWith("/internal/") && !isOfApi(url))).toEqual([]);
  });
});
