// SIGTERM while visitors click and links are made: when the program has ended, no answered click is lost, and every event
// lies below a seal.

import { expect, it } from "vitest";
import { judgedSeals } from "../../src/audit/seals/read-seals.ts";
import { ALL_CATEGORIES, SEALS_STREAM } from "../../src/events/streams.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { loggedTexts } from "../support/event-store/logged-events.ts";
import { reckonClicks } from "../support/redirect/reckon-clicks.ts";
import { startRedirectLoad } from "../support/redirect/redirect-load.ts";
import { effort } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { send } from "../support/service/ask.ts";
import { accountWithKeys, instanceOf, startService } from "../support/service/service-process.ts";

const PER_SECOND = 300;

it.each([
  { of: "one process", stops: effort(2, 160), more: [] },
  { of: "two workers", stops: effort(1, 40), more: ["--workers", "2"] },
])(
  "seals every event at a stop, and loses none: $of",
  async ({ of, stops, more }) => {
    const folder = await temporaryFolder();
    const instance = await instanceOf(folder.path, {
      CLICK_DURABILITY: "batched",
      RATE_LIMIT_FREE: "1000000",
    });
    const { keys } = await accountWithKeys(instance, "free", 1);
    const port = Number(instance.PORT);
    const create = () =>
      send<{ slug: string }>(port, "/api/v1/shorten", {
        ...{ method: "POST", key: keys[0] ?? "", body: { url: "https://example.com/" } },
      });
    const counts = { stops: 0, unsealed: 0, lost: 0, doubled: 0 };
    for (let n = 0; n < stops; n += 1) {
      const service = await startService(instance, { serve: more });
      const { slug } = (await create()).body;
      const load = startRedirectLoad(`stop ${n}`, service.url, [slug], PER_SECOND);
      // Until the service takes no more.
      const creating = (async () => {
        while (await create().catch(() => undefined));
      })();
      await load.answeredMore(20 + ((n * 37) % 200));
      await service.stop();
      await Promise.all([creating, load.stop()]);
      const store = await openSqliteEventStore(`${folder.path}/events.db`);
      const { lost, doubled } = await reckonClicks(`${of}, stop ${n}`, [load], store);
      const [newest] = await judgedSeals(store, []);
      const behind = await loggedTexts(store, {
        after: newest?.seal?.position,
        categories: ALL_CATEGORIES,
        limit: 10_000,
      });
      counts.stops += 1;
      counts.unsealed += behind.filter(({ stream }) => stream !== SEALS_STREAM).length;
      counts.lost += lost;
      counts.doubled += doubled;
      await store.close();
    }
    printCounts(of, counts);
    expect(counts).toEqual({ stops, unsealed: 0, lost: 0, doubled: 0 });
    await folder.remove();
  },
  3_600_000,
);
