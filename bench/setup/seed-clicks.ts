// Fills a log with clicks as the recorder writes them, without HTTP, so that a million take a minute.
import { randomBytes } from "node:crypto";
import { clickWriter } from "../../src/redirect/clicks/append-clicks.ts";
import { batchReader, clickReader } from "../../src/redirect/clicks/click-event.ts";
import { packagedGeo } from "../../src/redirect/clicks/enrich/geo.ts";
import { addHit, emptyBatch, type HitBatch, packTarget } from "../../src/redirect/clicks/hit.ts";
import { visitorCodes } from "../../src/redirect/clicks/visitors/visitor.ts";
import { benchSlug, benchUrl, drawEvenly, randomNumbers, zipf } from "../load/requests.ts";
import { visitors } from "../load/visitors.ts";
import type { Prepared } from "./bench-service.ts";

const BATCH = 1_000;
/** Between two batches: 10,000 clicks/s. */
const EVERY_MS = 100;

/**
 * `spanMs`: since the first click, by default 10,000 a second. `isEven`: of each link as many, not by Zipf's law. `slugOf`: as of
 * seedLinksOf.
 */
export type SeededClicks = {
  clicks: number;
  links: number;
  spanMs?: number;
  isEven?: boolean;
  slugOf?: (link: number) => string;
};

/** On links that were seeded; the last click is now. */
export async function seedClicks(
  { backend, config, accountId }: Pick<Prepared, "backend" | "config" | "accountId">,
  { clicks, links, isEven = false, slugOf = benchSlug, ...times }: SeededClicks,
): Promise<void> {
  const { spanMs = (clicks / BATCH) * EVERY_MS } = times;
  const write = writerOf(backend);
  const from = visitors();
  const draw = (isEven ? drawEvenly : zipf)(links, randomNumbers(1));
  // Other numbers than those that draw the links: else each link has the same few visitors.
  const random = randomNumbers(2);
  const host = new URL(config.baseUrl).hostname;
  const start = Date.now() - spanMs;
  const everyMs = spanMs / (clicks / BATCH);
  for (let first = 0; first < clicks; first += BATCH) {
    const batch = emptyBatch(first);
    for (let n = first; n < Math.min(clicks, first + BATCH); n++) {
      const visitor = from[Math.floor(random() * from.length)];
      if (!visitor) throw new Error("there is no visitor");
      const link = draw();
      const key = `${host}/${slugOf(link)}`;
      const target = packTarget({ key, revision: 0, longUrl: benchUrl(link), accountId, via: "api" });
      const at = Math.round(start + (n / BATCH) * everyMs);
      addHit(batch, { ...visitor, method: "GET", country: "", query: "", prefetch: "", link: target, at });
    }
    await write(batch);
  }
}

/** Writes one batch; resolves when it is stored. */
function writerOf({ eventStore }: Prepared["backend"]) {
  // One salt, as all clicks are of one day.
  const codes = visitorCodes(randomBytes(32));
  const log = { warn: (_: unknown, message?: string) => Promise.reject(new Error(message)) };
  const writer = randomBytes(8).toString("hex");
  const readBatch = batchReader({
    clickOf: clickReader(packagedGeo()),
    visitors: async () => codes,
    writer,
    log,
  });
  const { write } = clickWriter({
    clock: () => new Date(),
    readBatch,
    eventStore,
    journal: undefined,
    saltProblem: () => undefined,
    log,
  });
  const revisions = new Map<string, number>();
  return async (batch: HitBatch) => {
    const written = await write(batch, [...revisions]);
    if (!written.stored) throw new Error(written.err.message);
    for (const [stream, revision] of written.reached) revisions.set(stream, revision);
  };
}
