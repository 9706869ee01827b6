// Fills a log with clicks as the recorder writes them, without HTTP, so that a million take a minute.
import { randomBytes } from "node:crypto";
import { clickReader } from "../../src/redirect/clicks/click-event.ts";
import { ClickWriter } from "../../src/redirect/clicks/click-writer.ts";
import { openGeo } from "../../src/redirect/clicks/enrich/geo.ts";
import { addHit, emptyBatch, packTarget } from "../../src/redirect/clicks/hit.ts";
import type { RecorderReport } from "../../src/redirect/clicks/recorder-report.ts";
import { visitorCodes } from "../../src/redirect/clicks/visitors/visitor.ts";
import { ClickOutbox } from "../../src/redirect/spool/click-outbox.ts";
import { benchSlug, benchUrl, randomNumbers, zipf } from "../load/requests.ts";
import { visitors } from "../load/visitors.ts";
import type { Prepared } from "./bench-service.ts";

const BATCH = 1_000;
/** Between two batches: 10,000 clicks/s. */
const EVERY_MS = 100;

/** On links that were seeded, drawn by Zipf's law; the last click is now. */
export async function seedClicks(
  { backend, config, accountId }: Prepared,
  { clicks, links }: { clicks: number; links: number },
): Promise<void> {
  const write = clickWriter(backend);
  const from = visitors();
  const draw = zipf(links, randomNumbers(1));
  // Other numbers than those that draw the links: else each link has the same few visitors.
  const random = randomNumbers(2);
  const host = new URL(config.baseUrl).hostname;
  const start = Date.now() - (clicks / BATCH) * EVERY_MS;
  for (let first = 0; first < clicks; first += BATCH) {
    const batch = emptyBatch(first + 1, first);
    for (let n = first; n < Math.min(clicks, first + BATCH); n++) {
      const visitor = from[Math.floor(random() * from.length)];
      if (!visitor) throw new Error("there is no visitor");
      const link = draw();
      const key = `${host}/${benchSlug(link)}`;
      const target = packTarget({ key, revision: 0, longUrl: benchUrl(link), accountId, via: "api" });
      const at = start + (first / BATCH) * EVERY_MS;
      addHit(batch, { ...visitor, method: "GET", country: "", query: "", prefetch: "", link: target, at });
    }
    await write(batch);
  }
}

/** Writes one batch; resolves when it is committed. */
function clickWriter({ eventStore }: Prepared["backend"]) {
  let written = Promise.withResolvers<void>();
  const report = (message: RecorderReport) => {
    if (message.type === "committed") written.resolve();
    if (message.type === "problem") written.reject(new Error(message.message));
  };
  // One salt, as all clicks are of one day.
  const codes = visitorCodes(randomBytes(32));
  const common = { report, random: Math.random };
  const writer = new ClickWriter({
    ...common,
    outbox: new ClickOutbox({ ...common, eventStore, spools: undefined, sleep: async () => {} }),
    clickOf: clickReader(openGeo(undefined)),
    visitors: async () => codes,
    writer: randomBytes(8).toString("hex"),
    revisions: new Map(),
  });
  return async (batch: ReturnType<typeof emptyBatch>) => {
    written = Promise.withResolvers<void>();
    writer.push(batch);
    await written.promise;
  };
}
