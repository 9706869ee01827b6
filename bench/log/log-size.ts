// `npm run bench log-size`: bytes of a click in the embedded log, by the number of clicks in each append.
import { join } from "node:path";
import { openBackend } from "../../src/backend.ts";
import { clicksInLog } from "../measure/count.ts";
import { databaseBytes } from "../measure/database-bytes.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { openClickLog } from "../setup/click-log.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { drawOf, randomNumbers } from "../traffic/draw.ts";
import { LINKS } from "../traffic/requests.ts";

/** Clicks in each append, and milliseconds between two appends, from low to high load. */
const PATTERNS = [
  { size: 1, everyMs: 5_000 },
  { size: 5, everyMs: 200 },
  { size: 20, everyMs: 20 },
  { size: 100, everyMs: 20 },
  { size: 300, everyMs: 20 },
];
const START = Date.UTC(2026, 5, 1);
const ACCOUNT = "0197a0b0-1111-7222-8333-444455556666";

/** `further`: bytes of a click of the second half, as the first has the room that the newest clicks take. */
type Measured = { size: number; bytes: number; further: number; written: number; read: number };

/** Passes when every click can be read back. */
export async function benchLogSize({ clicks = 40_000 }: Options, report: Report): Promise<Outcome> {
  const rows: Measured[] = [];
  for (const pattern of PATTERNS)
    rows.push(await withDataFolder((folder) => measure(folder, clicks, pattern)));
  report.line(`${whole(clicks)} clicks a row`);
  report.table([
    ["clicks an append", "bytes of events.db a click", "a further click", "clicks/s written", "read"],
    ...rows.map(({ size, bytes, further, written, read }) =>
      [size, bytes, further, written, read].map(whole),
    ),
  ]);
  return { passed: true, measured: { rows } };
}

async function measure(
  folder: string,
  clicks: number,
  { size, everyMs }: (typeof PATTERNS)[number],
): Promise<Measured> {
  const file = join(folder, "events.db");
  const backend = await openBackend({ dataDir: folder }, { offThread: false });
  try {
    const { eventStore } = backend;
    const log = await openClickLog({ eventStore, baseUrl: "http://localhost:3000", accountId: ACCOUNT });
    const link = drawOf("zipf", LINKS, randomNumbers(1));
    const empty = databaseBytes(file);
    const writing = performance.now();
    let halfway = { bytes: empty, clicks: 0 };
    let now = START;
    for (let first = 0; first < clicks; first += size) {
      if (halfway.clicks === 0 && first >= clicks / 2)
        halfway = { bytes: databaseBytes(file), clicks: first };
      now += everyMs;
      await log.append(Math.min(size, clicks - first), now, link);
    }
    const written = clicks / secondsSince(writing);
    const bytes = databaseBytes(file);
    const reading = performance.now();
    const found = await clicksInLog(backend);
    if (found !== clicks) throw new Error(`${clicks} clicks were written, ${found} are there`);
    const read = found / secondsSince(reading);
    return {
      size,
      bytes: (bytes - empty) / clicks,
      further: (bytes - halfway.bytes) / (clicks - halfway.clicks),
      written,
      read,
    };
  } finally {
    await backend.close();
  }
}

function secondsSince(start: number): number {
  return (performance.now() - start) / 1000;
}
