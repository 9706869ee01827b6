// `npm run bench archive`: what a click takes in the log and in an archive file, and how fast both are read.
import { join } from "node:path";
import { type Backend, openBackend, openEmbeddedArchive } from "../../src/backend.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { clicksInLog } from "../measure/count.ts";
import { databaseBytes } from "../measure/database-bytes.ts";
import { median } from "../measure/statistics.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { openClickLog } from "../setup/click-log.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { drawOf, randomNumbers } from "../traffic/draw.ts";
import { LINKS } from "../traffic/requests.ts";
import { PATTERNS, secondsSince } from "./log-size.ts";

/** Clicks in each append: at low load, at a thousand clicks a second, and at full load. */
const SIZES = [1, 25, 1_000];
const READS = 8;
const SINGLE_READS = 200;
const START = Date.UTC(2026, 5, 1);
const ACCOUNT = "0197a0b0-1111-7222-8333-444455556666";
const TOMORROW = 86_400_000;

type Measured = {
  size: number;
  log: number;
  file: number;
  kept: number;
  archived: number;
  readLog: number;
  readFiles: number;
  oneOfLog: number;
  oneOfFiles: number;
};

/** Passes when every click can be read from the files. */
export async function benchArchive({ clicks = 100_000 }: Options, report: Report): Promise<Outcome> {
  const rows: Measured[] = [];
  for (const pattern of PATTERNS.filter(({ size }) => SIZES.includes(size)))
    rows.push(await withDataFolder((folder) => measure(folder, clicks, pattern)));
  report.line(
    `${whole(clicks)} clicks a row; bytes are those of a click, what is left in events.db is after --vacuum`,
  );
  report.table([
    [
      "clicks an append",
      "events.db",
      "archive",
      "left in events.db",
      "clicks/s archived",
      "read from the log",
      "from files",
      "ratio",
      "ms for one click of the log",
      "of a file",
    ],
    ...rows.map(({ size, log, file, kept, archived, readLog, readFiles, oneOfLog, oneOfFiles }) => [
      ...[whole(size), log.toFixed(1), file.toFixed(1), kept.toFixed(1)],
      ...[whole(archived), whole(readLog), whole(readFiles), (readFiles / readLog).toFixed(2)],
      ...[oneOfLog.toFixed(1), oneOfFiles.toFixed(1)],
    ]),
  ]);
  return { passed: true, measured: { rows } };
}

async function measure(
  folder: string,
  clicks: number,
  { size, everyMs }: (typeof PATTERNS)[number],
): Promise<Measured> {
  const backend = await openBackend({ dataDir: folder }, { offThread: false });
  const archive = openEmbeddedArchive({ dataDir: folder }, { ...runtimeDeps, sleep: async () => undefined });
  if (!archive) throw new Error("The embedded log has an archive");
  try {
    const { eventStore } = backend;
    const log = await openClickLog({ eventStore, baseUrl: "http://localhost:3000", accountId: ACCOUNT });
    const link = drawOf("zipf", LINKS, randomNumbers(1));
    const empty = databaseBytes(join(folder, "events.db"));
    for (let first = 0; first < clicks; first += size)
      await log.append(Math.min(size, clicks - first), START + (first / size) * everyMs, link);
    const before = databaseBytes(join(folder, "events.db")) - empty;
    const readLog = await clicksReadASecond(backend, clicks);
    const oneOfLog = await msForOneClick(backend);
    const started = performance.now();
    const tomorrow = new Date(Date.now() + TOMORROW);
    for (const day of archive.days(tomorrow)) await archive.archive(day, { from: 0, to: 0 });
    const archived = clicks / secondsSince(started);
    archive.vacuum();
    const bytes = archive.files().reduce((sum, file) => sum + file.bytes, 0);
    return {
      ...{ size, log: before / clicks, file: bytes / clicks, archived, readLog, oneOfLog },
      kept: (databaseBytes(join(folder, "events.db")) - empty) / clicks,
      readFiles: await clicksReadASecond(backend, clicks),
      oneOfFiles: await msForOneClick(backend),
    };
  } finally {
    archive.close();
    await backend.close();
  }
}

/** The fastest of several readings. */
async function clicksReadASecond(backend: Pick<Backend, "eventStore">, clicks: number): Promise<number> {
  const rates: number[] = [];
  for (let n = 0; n < READS; n += 1) {
    const started = performance.now();
    const found = await clicksInLog(backend);
    if (found !== clicks) throw new Error(`${clicks} clicks were written, ${found} are there`);
    rates.push(found / secondsSince(started));
  }
  return Math.max(...rates);
}

/** The median of reads anywhere in the first day's stream. */
async function msForOneClick({ eventStore }: Pick<Backend, "eventStore">): Promise<number> {
  const [first] = await eventStore.readAll({ categories: [CATEGORY.clicks], limit: 1 });
  const stream = first?.stream ?? "";
  const [last] = await eventStore.read(stream, { backwards: true, limit: 1 });
  const random = randomNumbers(1);
  const times: number[] = [];
  for (let n = 0; n < SINGLE_READS; n += 1) {
    const from = Math.floor(random() * ((last?.revision ?? 0) + 1));
    const started = performance.now();
    await eventStore.read(stream, { from, limit: 1 });
    times.push(performance.now() - started);
  }
  return median(times);
}
