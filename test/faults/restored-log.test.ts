// A whole service whose log alone was put back from an older copy, beside newer documents: what it answers is of that log.
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issueKey } from "../../src/commands/account/change-keys.ts";
import { openAccount } from "../../src/commands/account/sign-up.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { parseConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/runtime/logging.ts";
import { openService, type Service } from "../../src/service/service.ts";
import { operator } from "../support/commands/command-deps.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { type Ask, send } from "../support/service/ask.ts";

type Listed = { links: { slug: string }[]; total: number; next_cursor: string | null };
type Health = { status: string; reasons: object[] };

const KEPT = 5;
const LOST = 20;
/** As many as make the log longer again than what the documents were folded from. */
const NEW = 46;
/** A key may ask 500 times an hour. */
const SELDOM = { everyMs: 500 };

describe("a log that was put back from an older copy beside newer documents", { timeout: 240_000 }, () => {
  let folder: TemporaryFolder;
  let service: Service;
  let keys: string[];
  let asked = 0;
  let kept: string[];
  let lost: string[];
  let made: string[];
  const lines: string[] = [];

  const start = async () => {
    const log = createLogger("warn", { write: (line: string) => void lines.push(line) });
    const environment = { PORT: "0", BASE_URL: "http://localhost", DATA_DIR: folder.path, GEOIP_DB: "" };
    service = await openService(parseConfig(environment), log);
  };
  const ask = <T = Record<string, unknown>>(path: string, given: Ask = {}) =>
    send<T>(Number(new URL(service.url).port), path, given);
  const askApi = <T>(path: string, given: Ask = {}) => {
    asked += 1;
    return ask<T>(`/api/v1/${path}`, { key: keys[asked % keys.length] ?? "", ...given });
  };
  const make = async (count: number) => {
    const links = Array.from({ length: count }, (_, n) => ({ url: `https://example.com/${n}` }));
    const answer = await askApi<{ results: { slug: string }[] }>("shorten/bulk", {
      method: "POST",
      body: { links },
    });
    expect([answer.status, answer.body.results.length]).toEqual([201, count]);
    return answer.body.results.map(({ slug }) => slug);
  };
  const statuses = async (slugs: readonly string[]) => {
    const all = await Promise.all(slugs.map((slug) => ask(`/${slug}`)));
    return [...new Set(all.map(({ status }) => status))];
  };
  /** Undefined while it says that it can't be told. */
  const listed = async (): Promise<string[] | undefined> => {
    const { status, headers, body } = await askApi<Listed>("links?scope=account&limit=100");
    if (status === 503) expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    else expect([status, body.total]).toEqual([200, body.links.length]);
    return status === 503 ? undefined : body.links.map(({ slug }) => slug).sort();
  };
  const clicksOf = async (slug: string) => {
    const path = `analytics/${slug}`;
    const { body } = await askApi<{ analytics?: { totalClicks: number } }>(path);
    return body.analytics?.totalClicks;
  };
  const isReady = async () => (await ask("/health/ready")).status === 200;
  const isCounted = async (slug: string | undefined, clicks: number) =>
    until("clicks to be counted", async () => (await clicksOf(slug ?? "")) === clicks, SELDOM);

  beforeAll(async () => {
    folder = await temporaryFolder();
    await start();
    const { eventStore, secrets } = service.backend;
    const deps = { ...runtimeDeps, eventStore, secrets, keyPrefix: "ll" };
    const { accountId } = await openAccount(deps, operator, { email: "a@example.com", tier: "developer" });
    keys = [];
    while (keys.length < 3) keys.push((await issueKey(deps, operator, accountId, {})).key);
    kept = await make(KEPT);
    await statuses(kept);
    await isCounted(kept[0], 1);
    await service.stop();
    const log = join(folder.path, "events.db");
    await copyFile(log, `${log}.copy`);
    await start();
    lost = await make(LOST);
    await statuses([...kept, ...lost]);
    await isCounted(kept[0], 2);
    await isCounted(lost[0], 1);
    await service.stop();
    for (const end of ["-wal", "-shm"]) await rm(`${log}${end}`, { force: true });
    await copyFile(`${log}.copy`, log);
    lines.length = 0;
    await start();
  }, 240_000);
  afterAll(async () => {
    await service?.stop();
    await folder?.remove();
  });

  const isOfTheLog = async (clicks: number) => {
    const expected = [...kept, ...made].sort();
    await until("the service to be ready", isReady);
    await until("the list", async () => (await listed()) !== undefined, SELDOM);
    expect(await listed()).toEqual(expected);
    expect(await statuses(expected)).toEqual([301]);
    expect(await statuses(lost)).toEqual([404]);
    expect((await askApi(`analytics/${lost[0]}`)).status).toBe(404);
    expect((await ask(`/api/qr/${made[0]}`)).status).toBe(200);
    await isCounted(made.at(-1), clicks);
    await isCounted(kept[0], clicks + 1);
    const { body } = await ask<Health>("/health/ready");
    expect(body).toMatchObject({ reasons: [] });
  };

  it("takes new links at once, and answers nothing from the documents of the other log", async () => {
    made = await make(NEW);
    const before = await listed();
    if (before) expect(before).toEqual([...kept, ...made].sort());
    expect(await statuses([...kept, ...made])).toEqual([301]);
    expect(await statuses(lost)).toEqual([404]);
    expect(lines.filter((line) => line.includes("another log"))).toHaveLength(2);
  });

  it("has the links and clicks of the log alone when the documents are folded anew", async () => {
    await isOfTheLog(2);
  });

  it("has them after another restart, too", async () => {
    await service.stop();
    lines.length = 0;
    await start();
    await isOfTheLog(3);
    expect(lines.filter((line) => line.includes("another log"))).toEqual([]);
  });
});
