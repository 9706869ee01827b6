// `kill -9` with batched clicks on the embedded store: at most the last 50 ms of clicks are lost, none is duplicated.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { reckonClicks } from "../support/redirect/reckon-clicks.ts";
import { startRedirectLoad } from "../support/redirect/redirect-load.ts";
import { effort } from "../support/runtime/effort.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import {
  accountWithKeys,
  type Environment,
  instanceOf,
  startService,
} from "../support/service/service-process.ts";

const PER_SECOND = 400;
/** Redirects per round before the kill: enough to detect a recorder that commits too late. */
const CLICKS = effort(300, 1_000);
const ROUNDS = effort(1, 3);
/** What CLICK_DURABILITY=batched promises. */
const ALLOWED_LOSS_MS = 50;

describe("a service with batched clicks that is killed with SIGKILL under load", () => {
  let folder: TemporaryFolder;
  let instance: Environment;
  let slugs: string[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    instance = await instanceOf(folder.path);
    const { keys } = await accountWithKeys(instance, "free", 1);
    const service = await startService(instance);
    const response = await fetch(`${service.url}/api/v1/shorten`, {
      method: "POST",
      headers: { "x-api-key": keys[0] ?? "", "content-type": "application/json" },
      body: JSON.stringify({ url: "https://example.com/" }),
    });
    slugs = [((await response.json()) as { slug: string }).slug];
    await service.stop();
  }, 180_000);
  afterAll(() => folder.remove());

  it("has all clicks in the log once, but for those answered in the last 50 ms", async () => {
    const store = await openSqliteEventStore(`${folder.path}/events.db`);
    try {
      for (let round = 1; round <= ROUNDS; round++) {
        const service = await startService(instance);
        const load = startRedirectLoad(`round-${round}.`, service.url, slugs, PER_SECOND);
        await load.answeredMore(CLICKS);
        const killedAt = Date.now();
        await Promise.all([service.stop("SIGKILL"), load.stop()]);
        const counts = await reckonClicks(`kill -9 with batched clicks, round ${round}`, [load], store);
        expect(counts.answered).toBeGreaterThanOrEqual(CLICKS);
        expect(counts.doubled).toBe(0);
        // A recorder that others keep from its processor commits late, and redirects don't wait for it without end.
        const allowedFrom = killedAt - stretched(ALLOWED_LOSS_MS) - load.longestStallMs();
        expect(counts.lostAnsweredAt.filter((at) => at < allowedFrom)).toEqual([]);
      }
    } finally {
      await store.close();
    }
  }, 180_000);
});
