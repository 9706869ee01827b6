// The recorder thread: enriches and stores clicks, so that redirects do not wait for that work.
import { randomBytes } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { clickSpools, openRecorderStores } from "../../backend.ts";
import type { Config } from "../../config.ts";
import { errorFields } from "../../runtime/error-fields.ts";
import { messageOf } from "../../runtime/errors.ts";
import { pause } from "../../runtime/pause.ts";
import { ClickOutbox } from "../spool/click-outbox.ts";
import { clickReader } from "./click-event.ts";
import { ClickWriter } from "./click-writer.ts";
import { type Geo, geoOf, openGeo } from "./enrich/geo.ts";
import type { HitBatch } from "./hit.ts";
import type { RecorderReport } from "./recorder-report.ts";
import { dailyVisitors } from "./visitors/daily-visitors.ts";

export type RecorderThreadData = { config: Config; writer: string; revisions: ReadonlyMap<string, number> };
/** `stop` ends the thread; the parent sends it when everything is committed. */
export type ToRecorder = HitBatch | "stop";

const clock = () => new Date();
const SWEEP_EVERY_MS = 60_000;

async function main(port: MessagePort, data: RecorderThreadData): Promise<void> {
  const stores = await openRecorderStores(data.config);
  const report = (message: RecorderReport) => port.postMessage(message);
  const visitors = dailyVisitors({ salts: stores.dailySalts, clock, sleep: pause, randomBytes });
  void visitors.sweep();
  setInterval(() => void visitors.sweep(), SWEEP_EVERY_MS).unref();
  const spoolName = `${data.writer}-${randomBytes(4).toString("hex")}`;
  const outbox = new ClickOutbox({
    eventStore: stores.eventStore,
    spools: clickSpools(data.config, spoolName),
    sleep: pause,
    random: Math.random,
    report,
  });
  const writer = new ClickWriter({
    outbox,
    clickOf: clickReader(geoOrNone(data.config.geoipDb, report)),
    visitors: (at) => visitors.codesAt(at),
    writer: data.writer,
    revisions: data.revisions,
    report,
  });
  port.on("message", (message: ToRecorder) => {
    if (message !== "stop") return writer.push(message);
    port.close();
    void outbox.close().finally(() => stores.close());
    return undefined;
  });
}

/** The file was readable at the start of the process; if it no longer is, clicks are recorded without places. */
function geoOrNone(file: string | undefined, report: (report: RecorderReport) => void): Geo {
  try {
    return openGeo(file);
  } catch (error) {
    const message = `GEOIP_DB: no click gets a place, ${messageOf(error)}`;
    report({ type: "problem", message, err: errorFields(error) });
    return geoOf(undefined, undefined);
  }
}

if (parentPort) await main(parentPort, workerData as RecorderThreadData);
