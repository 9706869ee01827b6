// The writer thread: appends, secrets, and clicks, which it makes of hits, so that no request waits for the disk or that work.
import { randomBytes } from "node:crypto";
import type { Config } from "../../config/config.ts";
import { clickWriter } from "../../redirect/clicks/append-clicks.ts";
import { batchReader, clickReader, placeOrNowhere } from "../../redirect/clicks/click-event.ts";
import { packagedGeo, watchedGeo } from "../../redirect/clicks/enrich/geo.ts";
import { ClickJournal } from "../../redirect/clicks/journal.ts";
import { dailyVisitors } from "../../redirect/clicks/visitors/daily-visitors.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { pause } from "../../runtime/pause.ts";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { openers } from "../../stores/connections/openers.ts";
import { storesOf } from "../stores/backend.ts";
import type { Stores } from "../stores/stores.ts";

/** `writer`: as in BatchReaderDeps, new for each process. */
export type WriterData = { config: Config; writer: string };

const clock = () => new Date();
const SWEEP_EVERY_MS = 60_000;
/** Of clicks: short, as who waits for a batch is told that it is not stored. */
const LOCK_WITHIN_MS = 500;

await serveThread<WriterData>((data, log) => {
  const stores = storesOf(data.config, { lockWithinMs: LOCK_WITHIN_MS });
  const { opener, close } = openers();
  const recording = opener(() => openRecording(data, stores, log));
  return {
    served: {
      ...stores.served.writer,
      clicks: async () => (await recording()).clicks,
      geo: async () => (await recording()).geo,
    },
    async close() {
      await close();
      await stores.close();
    },
  };
});

/** For a process that redirects. */
async function openRecording({ config, writer }: WriterData, stores: Stores, log: BasicLogger) {
  const visitors = dailyVisitors({ salts: await stores.dailySalts(), clock, sleep: pause, randomBytes, log });
  void visitors.sweep();
  const sweeping = setInterval(() => void visitors.sweep(), SWEEP_EVERY_MS);
  const geo = config.geoipDb === undefined ? packagedGeo() : watchedGeo(config.geoipDb, log);
  const eventStore = await stores.eventStore();
  const kept = stores.journal();
  const journal = kept && new ClickJournal({ ...kept, eventStore, sleep: pause, random: Math.random, log });
  const visitorsOf = (at: number) => visitors.codesAt(at);
  const readBatch = batchReader({ clickOf: clickReader(geo), visitors: visitorsOf, writer, log });
  return {
    clicks: clickWriter({
      ...{ clock, readBatch, eventStore, journal, log },
      saltProblem: () => visitors.problem,
    }),
    geo: { countryOf: async (address: string) => placeOrNowhere(geo, address).country },
    close: async () => clearInterval(sweeping),
  };
}
