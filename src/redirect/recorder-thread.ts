// The recorder thread: everything about a click that the redirect need not wait for happens here.
import { randomBytes } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { clickSpools, openBackend } from "../backend.ts";
import type { Config } from "../config.ts";
import type { EventStore } from "../event-store/port.ts";
import { pause } from "../pause.ts";
import { errorFields } from "../runtime/error-fields.ts";
import { enricher } from "./click-event.ts";
import type { SpoolReport } from "./click-spool.ts";
import { ClickWriter, type WriterReport } from "./click-writer.ts";
import { dailyVisitors } from "./daily-visitors.ts";
import { type Geo, geoOf, openGeo } from "./geo.ts";
import type { HitBatch } from "./hit.ts";
import { SpoolingLog } from "./spooling-log.ts";

export type RecorderThreadData = { config: Config; writer: string; revisions: ReadonlyMap<string, number> };
/** `stop` closes the stores; the parent sends it when everything is committed. */
export type ToRecorder = HitBatch | "stop";

const clock = () => new Date();
const SWEEP_EVERY_MS = 60_000;

async function main(port: MessagePort, data: RecorderThreadData): Promise<void> {
  const backend = await openBackend(data.config, { offThreadEventStore: false });
  const report = (message: WriterReport | SpoolReport) => port.postMessage(message);
  const spooling = spoolingLog(data, backend.eventStore, report);
  const visitors = dailyVisitors({ salts: backend.dailySalts, clock, sleep: pause, randomBytes });
  void visitors.sweep();
  setInterval(() => void visitors.sweep(), SWEEP_EVERY_MS).unref();
  const writer = new ClickWriter({
    eventStore: spooling ?? backend.eventStore,
    enrich: enricher(await geoOrNone(data.config.geoipDb, report)),
    visitors: (at) => visitors.codesAt(at),
    sleep: pause,
    random: Math.random,
    writer: data.writer,
    revisions: data.revisions,
    report,
  });
  port.on("message", (message: ToRecorder) => {
    if (message !== "stop") return writer.push(message);
    port.close();
    void (spooling?.close() ?? Promise.resolve()).finally(() => backend.close());
    return undefined;
  });
}

/** A database that could be read at the start and can't any more costs the places, never the clicks. */
async function geoOrNone(file: string | undefined, report: (report: WriterReport) => void): Promise<Geo> {
  return openGeo(file).catch((error: Error) => {
    const message = `GEOIP_DB: no click gets a place, ${error.message}`;
    report({ type: "trouble", message, err: errorFields(error) });
    return geoOf(undefined, undefined);
  });
}

/** Undefined where the event store can't be away, as it is on the same disk. */
function spoolingLog(
  { config, writer }: RecorderThreadData,
  eventStore: EventStore,
  report: (report: SpoolReport) => void,
): SpoolingLog | undefined {
  const spools = clickSpools(config, `${writer}-${Date.now()}-${randomBytes(4).toString("hex")}`);
  return spools && new SpoolingLog({ eventStore, spools, sleep: pause, random: Math.random, report });
}

if (parentPort) await main(parentPort, workerData as RecorderThreadData);
