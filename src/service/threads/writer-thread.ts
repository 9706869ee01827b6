// The writer thread: makes clicks of hits and stores them, so that no redirect waits for that work; has the geo database.
import { randomBytes } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { Config } from "../../config/config.ts";
import { batchReader, clickReader, placeOrNowhere } from "../../redirect/clicks/click-event.ts";
import { packagedGeo, watchedGeo } from "../../redirect/clicks/enrich/geo.ts";
import { ClickJournal } from "../../redirect/clicks/journal.ts";
import { dailyVisitors } from "../../redirect/clicks/visitors/daily-visitors.ts";
import { clickWriter } from "../../redirect/clicks/write-clicks.ts";
import { pause } from "../../runtime/pause.ts";
import { threadLog } from "../../runtime/threads/in-thread.ts";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { storesOf } from "../stores/backend.ts";

/** `writer`: as in BatchReaderDeps, new for each process. */
export type WriterThreadData = { config: Config; writer: string };

const clock = () => new Date();
const SWEEP_EVERY_MS = 60_000;
/** Short, as who waits for a batch is told that it is not stored. */
const LOCK_WITHIN_MS = 500;

async function main(port: MessagePort, { config, writer }: WriterThreadData): Promise<void> {
  const log = threadLog((line) => port.postMessage(line));
  const stores = storesOf(config, { offThread: false, lockWithinMs: LOCK_WITHIN_MS });
  const visitors = dailyVisitors({ salts: await stores.dailySalts(), clock, sleep: pause, randomBytes });
  void visitors.sweep();
  setInterval(() => void visitors.sweep(), SWEEP_EVERY_MS).unref();
  const geo = config.geoipDb === undefined ? packagedGeo() : watchedGeo(config.geoipDb, log);
  const eventStore = await stores.eventStore();
  const files = stores.journalFiles();
  const journal = files && new ClickJournal({ eventStore, files, sleep: pause, random: Math.random, log });
  const visitorsOf = (at: number) => visitors.codesAt(at);
  const readBatch = batchReader({ clickOf: clickReader(geo), visitors: visitorsOf, writer, log });
  const served = {
    clicks: clickWriter({ readBatch, eventStore, journal, log }),
    geo: { countryOf: async (address: string) => placeOrNowhere(geo, address).country },
  };
  serveThread(port, served, async () => {
    await journal?.close();
    await stores.close();
  });
}

if (parentPort) await main(parentPort, workerData as WriterThreadData);
