// The recorder thread: everything about a click that the redirect need not wait for happens here.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { openBackend } from "../backend.ts";
import type { Config } from "../config.ts";
import { enricher } from "./click-event.ts";
import { ClickWriter, type WriterReport } from "./click-writer.ts";
import { dailyVisitors } from "./daily-visitors.ts";
import { openGeo } from "./geo.ts";
import type { HitBatch } from "./hit.ts";

export type RecorderThreadData = { config: Config; writer: string; revisions: ReadonlyMap<string, number> };
/** `stop` closes the stores; the parent sends it when everything is committed. */
export type ToRecorder = HitBatch | "stop";

async function main(port: MessagePort, data: RecorderThreadData): Promise<void> {
  const backend = await openBackend(data.config, { offThreadEventStore: false });
  const writer = new ClickWriter({
    eventStore: backend.eventStore,
    enrich: enricher(await openGeo(data.config.geoipDb)),
    visitors: dailyVisitors({ secrets: backend.secrets, clock: () => new Date(), randomBytes }),
    sleep,
    random: Math.random,
    writer: data.writer,
    revisions: data.revisions,
    report: (report: WriterReport) => port.postMessage(report),
  });
  port.on("message", (message: ToRecorder) => {
    if (message !== "stop") return writer.push(message);
    port.close();
    void backend.close();
    return undefined;
  });
}

if (parentPort) await main(parentPort, workerData as RecorderThreadData);
