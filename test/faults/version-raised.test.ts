// A release with a raised projection version starts on existing data under load; its build is killed and cancelled.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addDomain, verifyDomain } from "../../src/commands/domains/change-domains.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { parseConfig } from "../../src/config/config.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { openBackend } from "../../src/service/stores/backend.ts";
import { operator } from "../support/commands/command-deps.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { isLong } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { append } from "../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { send } from "../support/service/ask.ts";
import { commandProcess } from "../support/service/command-line.ts";
import { NEXT, type NextProgram, nextProgram } from "../support/service/next-program.ts";
import {
  accountWithKeys,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../support/service/service-process.ts";

/** A build takes a millisecond for each (next-program.ts): several times as long as a test looks at it in progress. */
const SEEDED = 40_000;
const AN_APPEND = 1_000;
const HOST = "go.raised.example";
const LONG = { timeout: 120_000, interval: 50 };

type Analytics = { analytics: { totalClicks: number; hourlyClicks: Record<string, number> } };
type Row = {
  name: string;
  active: { version: number } | null;
  previous: { version: number } | null;
  building: { version: number; done: number } | null;
  state: string;
  position: string | null;
};

describe.runIf(isLong)("a release that raises a projection's version", () => {
  let folder: TemporaryFolder;
  let next: NextProgram;
  let instance: Record<string, string>;
  let key: string;
  let service: ServiceProcess;
  let ofNext: ReturnType<typeof commandProcess>;
  let seeded: string;
  const slugs = { base: "", own: "" };
  const answered = new Map<number, number>();

  const port = () => Number(instance.PORT);
  const base = () => `localhost:${instance.PORT}`;
  const get = <T>(path: string) => send<T>(port(), path, { key, host: base() });
  const analytics = async (slug: string) =>
    (await get<Analytics>(`/api/v1/analytics/${slug}`)).body.analytics;
  const shorten = async (body: object) =>
    (await send<{ slug: string }>(port(), "/api/v1/shorten", { key, host: base(), method: "POST", body }))
      .body.slug;
  const degraded = async () => {
    const { body } = await get<{ degraded?: { part: string }[] }>("/health/ready");
    return (body.degraded ?? []).map(({ part }) => part);
  };
  const rowOf = async (projection: string): Promise<Row> =>
    (await ofNext.json("projections", "status")).projections.find(({ name }: Row) => name === projection);
  const totalsRow = () => rowOf(NEXT.name);
  const stored = <T>(sql: string, read: (rows: Record<string, unknown>[]) => T): T => {
    const db = new DatabaseSync(join(folder.path, "read.db"), { readOnly: true });
    try {
      return read(db.prepare(sql).all());
    } finally {
      db.close();
    }
  };
  /** Waits until the new build has folded this many events. */
  const builtTo = (events: number) => {
    const sql = `SELECT doc FROM checkpoints WHERE name GLOB '${NEXT.name}_b[0-9]*'`;
    const position = () => stored(sql, ([row]) => Number(JSON.parse(String(row?.doc ?? "{}")).position ?? 0));
    return expect.poll(position, { ...LONG, interval: 10 }).toBeGreaterThanOrEqual(events);
  };
  const startNext = async () => {
    service = await startService(instance, { program: next.folder });
  };

  /** Visits both links about forty times a second while the work runs. */
  async function underLoad(work: () => Promise<void>): Promise<void> {
    let isOver = false;
    const visiting = (async () => {
      while (!isOver) {
        for (const [host, slug] of [
          [base(), slugs.base],
          [HOST, slugs.own],
        ] as const) {
          const { status } = await send(port(), `/${slug}`, { host });
          answered.set(status, (answered.get(status) ?? 0) + 1);
        }
        await sleep(50);
      }
    })();
    await work().finally(() => {
      isOver = true;
    });
    await visiting;
  }

  beforeAll(async () => {
    [folder, next] = [await temporaryFolder(), await nextProgram()];
    instance = await instanceOf(folder.path);
    ofNext = commandProcess(folder.path, instance, next.folder);
    const { accountId, keys } = await accountWithKeys(instance, "developer", 1);
    key = keys[0] ?? "";
    const config = parseConfig(instance);
    const backend = await openBackend(config);
    const deps = { ...runtimeDeps, ...config, ...backend };
    await addDomain(deps, operator, accountId, HOST);
    const noDns = { ...deps, resolveTxt: async () => [] };
    const { domainId } = await verifyDomain(noDns, operator, accountId, HOST, { skipDns: true });
    service = await startService(instance);
    slugs.base = await shorten({ url: "https://example.com/base" });
    slugs.own = await shorten({ url: "https://example.com/own", domain_id: domainId });
    seeded = await shorten({ url: "https://example.com/seeded" });
    const link = `${config.baseHost}/${seeded}`;
    for (let n = 0; n < SEEDED; n += AN_APPEND)
      await append(
        backend.eventStore,
        "clicks-seed-20260301",
        Array.from({ length: AN_APPEND }, () => linkClicked({ link, accountId })),
      );
    await backend.close();
    await until("all clicks are counted", async () => (await analytics(seeded)).totalClicks === SEEDED, {
      withinMs: 120_000,
    });
    await service.stop();
  }, 240_000);
  afterAll(async () => {
    await service?.stop();
    await next?.remove();
    await folder?.remove();
  });

  it("answers queries from the previous build while the new one is made, and redirects work", async () => {
    await startNext();
    await underLoad(async () => {
      await builtTo(1);
      const slug = await shorten({ url: "https://example.com/new" });
      const listed = async () =>
        (await get<{ links: { slug: string }[] }>("/api/v1/links?limit=5")).body.links;
      await expect.poll(async () => (await listed()).map((one) => one.slug), LONG).toContain(slug);
      expect((await analytics(seeded)).totalClicks).toBe(SEEDED);
      expect((await analytics(slugs.base)).totalClicks).toBe(0);
      await expect.poll(degraded, LONG).toEqual([`projections ${NEXT.name}`]);
    });
    expect([...answered.keys()]).toEqual([301]);
  }, 180_000);

  it("removes a cancelled build completely, and answers from the previous one", async () => {
    expect(await ofNext.json("projections", "cancel", NEXT.name)).toEqual({
      cancelled: [{ ...NEXT, build: 1 }],
    });
    const remains = () => ({
      tables: stored(`SELECT name FROM sqlite_master WHERE name GLOB 'docs_*_b[0-9]*'`, (rows) => rows),
      checkpoints: stored(
        `SELECT name FROM checkpoints WHERE name GLOB '${NEXT.name}_b[0-9]*'`,
        (rows) => rows,
      ),
    });
    await expect.poll(remains, LONG).toEqual({ tables: [], checkpoints: [] });
    expect(await totalsRow()).toMatchObject({
      active: { version: NEXT.version - 1 },
      previous: null,
      building: null,
    });
    expect((await analytics(seeded)).totalClicks).toBe(SEEDED);
    await service.stop();
  }, 120_000);

  it("resumes a build whose process was killed, which then equals the log and counts new clicks", async () => {
    await startNext();
    await builtTo(SEEDED / 3);
    await service.stop("SIGKILL");
    expect(await totalsRow()).toMatchObject({ building: { version: NEXT.version }, state: "building" });
    await next.foldFast();
    await startNext();
    await underLoad(async () => {
      await expect.poll(degraded, LONG).toEqual([]);
    });
    expect((await totalsRow()).active).toMatchObject({ version: NEXT.version, build: 2 });
    expect([...answered.keys()]).toEqual([301]);

    // A thread that is busy doesn't tell in time, and what it hasn't told counts as nothing.
    const foldedByNow = async () => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      return Number(new RegExp(`folded_events_total{projection="${NEXT.name}"} (\\d+)`).exec(metrics)?.[1]);
    };
    await expect.poll(foldedByNow, LONG).toBeGreaterThan(0);
    const folded = await foldedByNow();
    const visits = [...answered.values()].reduce((sum, count) => sum + count, 0);
    printCounts("version raised", { seeded: SEEDED, visits, foldedAfterKill: folded });
    expect(folded).toBeLessThan(SEEDED);

    const own = async () => (await analytics(slugs.own)).totalClicks;
    await expect
      .poll(async () => (await own()) + (await analytics(slugs.base)).totalClicks, LONG)
      .toBe(visits);
    expect((await analytics(seeded)).totalClicks).toBe(SEEDED);
    await service.stop();
    expect(await clicksByLink()).toEqual(
      stored(`SELECT fields FROM "docs_link-totals_b2"`, (rows) =>
        rows
          .map(({ fields }) => JSON.parse(String(fields)))
          .map(({ _id, folded: all, totalClicks }) => [_id, all, totalClicks]),
      ).sort(),
    );
  }, 240_000);

  async function clicksByLink(): Promise<[string, number, number][]> {
    const backend = await openBackend(parseConfig(instance));
    const events = await loggedEvents(backend.eventStore, {
      categories: [CATEGORY.clicks],
      limit: SEEDED * 2,
    });
    await backend.close();
    const counts = new Map<string, number>();
    for (const { data } of events) {
      const { link } = data as { link: string };
      counts.set(link, (counts.get(link) ?? 0) + 1);
    }
    return [...counts].map(([link, count]): [string, number, number] => [link, count, count]).sort();
  }
});
