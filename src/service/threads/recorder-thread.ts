// The recorder thread: enriches and stores clicks, so that redirects do not wait for that work.
import { randomBytes } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { Config } from "../../config/config.ts";
import { clickReader } from "../../redirect/clicks/click-event.ts";
import { ClickWriter } from "../../redirect/clicks/click-writer.ts";
import { geoOrNone } from "../../redirect/clicks/enrich/geo.ts";
import type { RecorderReport } from "../../redirect/clicks/recorder-report.ts";
import type { ToRecorder } from "../../redirect/clicks/recorder-thread.ts";
import { dailyVisitors } from "../../redirect/clicks/visitors/daily-visitors.ts";
import { ClickOutbox } from "../../redirect/spool/click-outbox.ts";
import { errorFields } from "../../runtime/error-fields.ts";
import { pause } from "../../runtime/pause.ts";
import { storesOf } from "../stores/backend.ts";

export type RecorderThreadData = { config: Config; writer: string; revisions: ReadonlyMap<string, number> };

const clock = () => new Date();
const SWEEP_EVERY_MS = 60_000;

async function main(port: MessagePort, data: RecorderThreadData): Promise<void> {
  const stores = storesOf(data.config);
  const report = (message: RecorderReport) => port.postMessage(message);
  const visitors = dailyVisitors({ salts: await stores.dailySalts(), clock, sleep: pause, randomBytes });
  void visitors.sweep();
  setInterval(() => void visitors.sweep(), SWEEP_EVERY_MS).unref();
  const spoolName = `${data.writer}-${randomBytes(4).toString("hex")}`;
  const outbox = new ClickOutbox({
    eventStore: await stores.eventStore(),
    spools: stores.clickSpools(spoolName),
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
