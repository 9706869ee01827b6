// Writes clicks into an event store as the recorder does, without HTTP, so that a log of a million takes a minute.
import { randomBytes } from "node:crypto";
import type { EventStore } from "../../src/event-store/port.ts";
import { clickReader } from "../../src/redirect/clicks/click-event.ts";
import { ClickWriter } from "../../src/redirect/clicks/click-writer.ts";
import { openGeo } from "../../src/redirect/clicks/enrich/geo.ts";
import { addHit, emptyBatch, packTarget } from "../../src/redirect/clicks/hit.ts";
import type { RecorderReport } from "../../src/redirect/clicks/recorder-report.ts";
import { visitorCodes } from "../../src/redirect/clicks/visitors/visitor.ts";
import { ClickOutbox } from "../../src/redirect/spool/click-outbox.ts";
import { randomNumbers } from "../traffic/draw.ts";
import { benchSlug, benchUrl } from "../traffic/requests.ts";
import { visitors } from "../traffic/visitors.ts";

export type ClickLog = {
  /** Appends `count` clicks, `at` milliseconds since 1970, on links by number; resolves when they are committed. */
  append(count: number, at: number, link: () => number): Promise<void>;
};

export type ClickLogDeps = { eventStore: EventStore; baseUrl: string; accountId: string };

export async function openClickLog({ eventStore, baseUrl, accountId }: ClickLogDeps): Promise<ClickLog> {
  const from = visitors();
  // Other numbers than those that draw the links (seed 1): else each link has the same few visitors.
  const random = randomNumbers(2);
  const host = new URL(baseUrl).hostname;
  const targetOf = (link: number) => {
    const key = `${host}/${benchSlug(link)}`;
    return packTarget({ key, revision: 0, longUrl: benchUrl(link), accountId, via: "api" });
  };
  let committed: (() => void) | undefined;
  let failed: ((error: Error) => void) | undefined;
  const report = (message: RecorderReport) => {
    if (message.type === "committed") committed?.();
    if (message.type === "problem") failed?.(new Error(message.message));
  };
  // One salt, as all clicks are of one day.
  const codes = visitorCodes(randomBytes(32));
  const common = { report, random: Math.random };
  const writer = new ClickWriter({
    ...common,
    outbox: new ClickOutbox({ ...common, eventStore, spools: undefined, sleep: async () => {} }),
    clickOf: clickReader(openGeo(undefined)),
    visitors: async () => codes,
    writer: randomBytes(8).toString("hex"),
    revisions: new Map(),
  });
  let written = 0;
  return {
    async append(count, at, link) {
      const batch = emptyBatch(written + 1, written);
      for (let n = 0; n < count; n++) {
        const visitor = from[Math.floor(random() * from.length)];
        if (!visitor) throw new Error("there is no visitor");
        const request = { method: "GET" as const, query: "", prefetch: "" };
        addHit(batch, { ...visitor, ...request, link: targetOf(link()), at });
      }
      written += count;
      await new Promise<void>((resolve, reject) => {
        [committed, failed] = [resolve, reject];
        writer.push(batch);
      });
    },
  };
}
