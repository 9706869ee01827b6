// The recorder thread: enriches and stores clicks, so that redirects do not wait for that work.
import { randomBytes } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { clickSpools, openRecorderStores } from "../../backend.ts";
import type { Config } from "../../config.ts";
import { errorFields } from "../../runtime/error-fields.ts";
import { pause } from "../../runtime/pause.ts";
import { ClickOutbox } from "../spool/click-outbox.ts";
import { clickReader } from "./click-event.ts";
import { ClickWriter } from "./click-writer.ts";
import { geoOrNone } from "./enrich/geo.ts";
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
  const onNoGeo = (message: string, error: unknown) =>
    report({ type: "problem", message, err: errorFields(error) });
  const writer = new ClickWriter({
    outbox,
    clickOf: clickReader(geoOrNone(data.config.geoipDb, onNoGeo)),
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

if (parentPort) await main(parentPort, workerData as RecorderThreadData);
