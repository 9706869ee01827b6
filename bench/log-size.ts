// `npm run bench log-size`: bytes of a click in the embedded log, by the number of clicks in each append.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openBackend } from "../src/backend.ts";
import { PREFIX } from "../src/events/streams.ts";
import { enricher } from "../src/redirect/clicks/click-event.ts";
import { ClickWriter } from "../src/redirect/clicks/click-writer.ts";
import { type Geo, openGeo } from "../src/redirect/clicks/enrich/geo.ts";
import { addHit, emptyBatch, type HitBatch, packTarget } from "../src/redirect/clicks/hit.ts";
import { visitorCodes } from "../src/redirect/clicks/visitors/visitor.ts";
import { ClickOutbox } from "../src/redirect/spool/click-outbox.ts";
import { type PooledRequest, requestsOf } from "./traffic/requests.ts";

/** Clicks in each append, and milliseconds between two appends, from low to high load. */
const PATTERNS = [
  { size: 1, everyMs: 5_000 },
  { size: 5, everyMs: 200 },
  { size: 25, everyMs: 20 },
  { size: 100, everyMs: 20 },
  { size: 1_000, everyMs: 100 },
];
const START = Date.UTC(2026, 5, 1);
const ACCOUNT = "0197a0b0-1111-7222-8333-444455556666";

/** True when every click can be read back. */
export async function benchLogSize({ clicks }: { clicks: number }): Promise<boolean> {
  const geo = await openGeo(undefined);
  const requests = requestsOf(0, 1);
  console.log(
    `${clicks} clicks a row\n\nclicks an append | bytes of events.db a click | clicks/s written | read`,
  );
  let complete = true;
  for (const { size, everyMs } of PATTERNS) {
    const { bytes, further, written, read } = await measure({ clicks, size, everyMs, geo, requests });
    const columns = [size, bytes / clicks, further, written, read].map(Math.round);
    console.log(columns.map((column, n) => String(column).padStart([16, 26, 16, 17, 7][n] ?? 0)).join(" |"));
    complete &&= bytes > 0;
  }
  return complete;
}

type Measured = { clicks: number; size: number; everyMs: number; geo: Geo; requests: PooledRequest[] };

async function measure({ clicks, size, everyMs, geo, requests }: Measured) {
  const folder = await mkdtemp(join(tmpdir(), "linkledger-bench-"));
  try {
    const file = join(folder, "events.db");
    let now = START;
    const open = () => openBackend({ dataDir: folder }, { offThread: false });
    await (await open()).close();
    const empty = (await stat(file)).size;
    const backend = await open();
    const store = backend.eventStore;
    let next: (() => void) | undefined;
    const common = { report: onReport, random: Math.random };
    const writer = new ClickWriter({
      ...common,
      outbox: new ClickOutbox({ ...common, eventStore: store, spools: undefined, sleep: async () => {} }),
      enrich: enricher(geo),
      visitors: async () => visitorCodes(randomBytes(32)),
      writer: randomBytes(8).toString("hex"),
      revisions: new Map(),
    });
    function onReport(report: { type: string }) {
      if (report.type === "committed") next?.();
    }
    const writing = performance.now();
    let halfway = 0;
    for (let first = 0; first < clicks; first += size) {
      if (first === clicks / 2) halfway = bytesOf(file);
      now += everyMs;
      const done = new Promise<void>((resolve) => {
        next = resolve;
      });
      writer.push(batchOf(first, Math.min(size, clicks - first), now, requests));
      await done;
    }
    const written = clicks / ((performance.now() - writing) / 1000);
    const further = (bytesOf(file) - halfway) / (clicks / 2);
    const reading = performance.now();
    let found = 0;
    for (let after: string | undefined; ; ) {
      const page = await store.readAll({ prefixes: [PREFIX.clicks], after, limit: 1_000 });
      if (page.length === 0) break;
      found += page.length;
      after = page.at(-1)?.position;
    }
    const read = found / ((performance.now() - reading) / 1000);
    await backend.close();
    if (found !== clicks) throw new Error(`${clicks} clicks were written, ${found} are there`);
    return { bytes: (await stat(file)).size - empty, further, written, read };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Includes pages that are still in the write-ahead log. */
function bytesOf(file: string): number {
  const db = new DatabaseSync(file, { readOnly: true });
  const pages = Number(db.prepare("PRAGMA page_count").get()?.page_count);
  db.close();
  return pages * 4096;
}

function batchOf(first: number, count: number, at: number, requests: readonly PooledRequest[]): HitBatch {
  const batch = emptyBatch(first + 1, first);
  for (let n = first; n < first + count; n++) {
    const { path, headers } = requests[n % requests.length] as PooledRequest;
    addHit(batch, {
      link: targetOf(path.slice(1)),
      at: at - count + (n - first),
      method: "GET",
      query: "",
      address: headers["x-forwarded-for"] ?? "",
      userAgent: headers["user-agent"] ?? "",
      referrer: headers.referer ?? "",
      language: headers["accept-language"] ?? "",
      prefetch: "",
    });
  }
  return batch;
}

function targetOf(slug: string): string {
  const longUrl = `https://shop.example.com/products/${Number(slug.slice(1))}?utm_source=newsletter&utm_campaign=spring`;
  return packTarget({
    ...{ key: `localhost/${slug}`, slug, revision: 0, longUrl, shortUrl: `http://localhost:3000/${slug}` },
    ...{ accountId: ACCOUNT, via: "api" },
  });
}
