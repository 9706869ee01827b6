// `serve --roles`: a process answers only what its roles cover.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issueKey } from "../../../src/commands/account/change-keys.ts";
import { closeAccount } from "../../../src/commands/account/close-account.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { type Config, parseConfig } from "../../../src/config/config.ts";
import { createLogger } from "../../../src/runtime/logging.ts";
import { type ProcessRole, rolesFrom } from "../../../src/service/roles/role.ts";
import { openService, type Service } from "../../../src/service/service.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { PASSWORD, visitor } from "../../support/portal/browser-like.ts";
import { stretched } from "../../support/runtime/slowness.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { type Ask, send } from "../../support/service/ask.ts";
import { BASE_URL } from "../../support/service/start-service.ts";

const PARTS = ["redirect", "api", "projector"] as const satisfies ProcessRole[];
type Part = (typeof PARTS)[number];
/** A key may ask 500 times an hour. */
const SELDOM = { interval: 200 };
const log = createLogger("silent");

describe("processes with one role each, on the same stores", () => {
  let folder: TemporaryFolder;
  let config: Config;
  let services: Record<Part, Service>;
  let deps: Parameters<typeof issueKey>[0] & Parameters<typeof openAccount>[0];
  let key: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    config = parseConfig({ PORT: "0", BASE_URL, DATA_DIR: folder.path });
    const opened = PARTS.map(async (role) => [
      role,
      await openService(config, log, { roles: rolesFrom(role) }),
    ]);
    services = Object.fromEntries(await Promise.all(opened));
    const isReady = async (part: Part) => (await ask(part, "/health/ready")).status === 200;
    for (const part of PARTS) await until(`${part} to be ready`, () => isReady(part));
    const { eventStore, secrets } = services.api.backend;
    deps = { ...runtimeDeps, eventStore, secrets, keyPrefix: config.keyPrefix };
    const { accountId } = await openAccount(deps, operator, { email: "a@example.com", tier: "developer" });
    key = (await issueKey(deps, operator, accountId, {})).key;
    // The projector is started now, so later waits don't include its start.
    await until("the projector to have caught up", () => isReady("projector"));
  }, 120_000);
  afterAll(async () => {
    for (const service of Object.values(services)) await service.stop();
    await folder.remove();
  });

  const ask = <T>(part: Part, path: string, given: Ask = {}) =>
    send<T>(Number(new URL(services[part].url).port), path, given);
  const shorten = (part: Part, by = key) =>
    ask<{ slug: string }>(part, "/api/v1/shorten", {
      method: "POST",
      key: by,
      body: { url: "https://example.com/" },
    });
  const statuses = async (path: string) =>
    Object.fromEntries(
      await Promise.all(PARTS.map(async (part) => [part, (await ask(part, path)).status] as const)),
    );

  it("make a link in one, redirect it in another, and count its click in a third", async () => {
    const { status, body } = await shorten("api");
    expect(status).toBe(201);
    expect(await statuses(`/${body.slug}`)).toEqual({ redirect: 301, api: 404, projector: 404 });
    const total = async () => {
      const answer = await ask<{ analytics: { totalClicks: number } }>(
        "api",
        `/api/v1/analytics/${body.slug}`,
        { key },
      );
      return answer.body.analytics.totalClicks;
    };
    await expect.poll(total, SELDOM).toBe(1);
  });

  it("have nothing under /api, /docs and /openapi.json without the api role", async () => {
    for (const part of ["redirect", "projector"] as const) {
      expect((await shorten(part)).status).toBe(404);
      for (const path of ["/", "/portal/sign-in", "/docs/", "/openapi.json", "/api/v1/links", "/api/qr/abc"])
        expect([path, (await ask(part, path)).status]).toEqual([path, 404]);
    }
    expect(await statuses("/docs/")).toMatchObject({ api: 200 });
  });

  it("answer health and metrics in every role, and report the progress of projections", async () => {
    const lag = 'linkledger_projection_lag_seconds{projection="lifecycle"} 0';
    expect(await statuses("/health/live")).toEqual({ redirect: 200, api: 200, projector: 200 });
    await expect
      .poll(() => statuses("/health/ready"))
      .toEqual({
        redirect: 200,
        api: 200,
        projector: 200,
      });
    for (const part of PARTS) {
      const metrics = async () => (await ask(part, "/metrics")).text;
      await expect.poll(metrics).toContain(lag);
      expect((await metrics()).includes("linkledger_redirects_total")).toBe(part === "redirect");
    }
  });

  it("know a new key, and make and follow its links, while no projector runs", async () => {
    await services.projector.stop();
    const { accountId } = await openAccount(deps, operator, { email: "b@example.com", tier: "free" });
    const later = (await issueKey(deps, operator, accountId, {})).key;
    const { status, body } = await shorten("api", later);
    expect(status).toBe(201);
    expect((await ask("redirect", `/${body.slug}`)).status).toBe(301);
    const startedAt = performance.now();
    expect((await ask("api", `/api/qr/${body.slug}`)).status).toBe(200);
    const analytics = await ask<{ link: object }>("api", `/api/v1/analytics/${body.slug}`, { key: later });
    expect(analytics.body.link).toMatchObject({ id: body.slug });
    expect(performance.now() - startedAt).toBeLessThan(stretched(2_000));
    expect((await ask("api", "/api/qr/nowhere")).status).toBe(503);
    const said = async () =>
      Number(
        (await ask("api", "/api/v1/analytics/nowhere", { key: later })).headers["x-documents-behind-ms"],
      );
    await expect.poll(said, SELDOM).toBeGreaterThan(5_000);
    const list = await ask<{ code: string }>("api", "/api/v1/links", { key: later });
    expect([list.status, list.headers["retry-after"], list.body.code]).toEqual([503, "2", "links_behind"]);
    const other = later.replace(/.$/, (last) => (last === "a" ? "b" : "a"));
    expect((await ask("api", "/api/v1/links", { key: other })).status).toBe(401);
  });

  it("show in the portal how far lists and numbers are behind, while no projector runs", async () => {
    const portal = await openService(config, log, { roles: rolesFrom("portal") });
    try {
      const person = visitor(Number(new URL(portal.url).port));
      await person.submit("/portal/sign-up", { email: "d@example.com", password: PASSWORD });
      const page = async () => (await person.get("/portal/links")).text;
      await expect.poll(page, SELDOM).toMatch(/Lists and numbers are \d+ seconds behind/);
    } finally {
      await portal.stop();
    }
  });

  it("end a closed account's keys and links within a second, while no projector runs", async () => {
    const { accountId } = await openAccount(deps, operator, { email: "c@example.com", tier: "free" });
    const own = (await issueKey(deps, operator, accountId, {})).key;
    const { body } = await shorten("api", own);
    expect((await ask("redirect", `/${body.slug}`)).status).toBe(301);
    await closeAccount({ ...deps, accountsOf: async () => [] }, operator, accountId);
    const after = async () => [
      (await ask("redirect", `/${body.slug}`)).status,
      (await ask("api", "/api/v1/links", { key: own })).status,
    ];
    await expect.poll(after, { timeout: stretched(1_000), interval: 10 }).toEqual([404, 401]);
  });
});
