// `kill -9` with batched clicks on the embedded store, also while the disk stalls: what is lost was answered within the
// time that the settings say, and no more of it than they say; nothing is doubled.
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { SETTINGS } from "../../src/config/settings.ts";
import { MOST_UNSTORED } from "../../src/redirect/clicks/recorder.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { reckonClicks } from "../support/redirect/reckon-clicks.ts";
import { startRedirectLoad } from "../support/redirect/redirect-load.ts";
import { effort } from "../support/runtime/effort.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { instanceOfSuite } from "../support/service/instance-of-suite.ts";
import { accountWithKeys, startService } from "../support/service/service-process.ts";

const PER_SECOND = 400;
/** Redirects before the kill: enough to detect a recorder that commits too late. */
const CLICKS = effort(300, 1_000);
/** Less than the second after which redirects go on. */
const STALL_MS = 400;

describe("a service with batched clicks that is killed with SIGKILL under load", () => {
  const instance = instanceOfSuite();
  let slugs: string[];

  beforeAll(async () => {
    const { keys } = await accountWithKeys(instance, "free", 1);
    const service = await startService(instance);
    slugs = [await service.shorten(keys[0])];
    await service.stop();
  }, 180_000);

  /** What is lost when the service is killed after `before`, which returns what is to be done after it. */
  async function kill(name: string, before: () => Promise<() => void>) {
    const service = await startService(instance);
    const load = startRedirectLoad(`${name}.`, service.url, slugs, PER_SECOND);
    await load.answeredMore(CLICKS);
    const after = await before();
    await Promise.all([service.stop("SIGKILL"), load.stop()]);
    after();
    const store = await openSqliteEventStore(`${instance.DATA_DIR}/events.db`);
    const counts = await reckonClicks(`kill -9 with batched clicks, ${name}`, [load], store);
    await store.close();
    expect(counts.answered).toBeGreaterThanOrEqual(CLICKS);
    expect(counts.doubled).toBe(0);
    return counts;
  }

  /** Those that were lost at once, by the clock of who got the answers. */
  const spread = (times: readonly number[]) => Math.max(0, Math.max(...times) - Math.min(...times));

  it("loses what was answered in the last moment alone", async () => {
    const { lost, lostAnsweredAt } = await kill("under load", async () => () => undefined);
    expect(lost).toBeLessThanOrEqual(MOST_UNSTORED.clicks);
    expect(spread(lostAnsweredAt)).toBeLessThan(stretched(MOST_UNSTORED.ms));
  }, 180_000);

  it("loses no more in a stall of less than a second, in which redirects wait", async () => {
    const { lost, lostAnsweredAt } = await kill("in a stall", async () => {
      const lock = new DatabaseSync(`${instance.DATA_DIR}/events.db`);
      lock.exec("BEGIN IMMEDIATE");
      await delay(STALL_MS);
      return () => lock.close();
    });
    expect(lost).toBeLessThanOrEqual(MOST_UNSTORED.clicks);
    expect(lost).toBeLessThan((PER_SECOND * stretched(MOST_UNSTORED.ms) * 2) / 1_000);
    expect(spread(lostAnsweredAt)).toBeLessThan(stretched(MOST_UNSTORED.ms));
  }, 180_000);

  it("promises in its settings what it keeps", () => {
    const { what } = SETTINGS.clickDurability;
    expect(what).toContain(`${MOST_UNSTORED.ms} ms`);
    expect(what).toContain(MOST_UNSTORED.clicks.toLocaleString("en-US"));
  });
});
