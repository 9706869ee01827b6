// The recorder thread's work on a data folder, simulated in the test's thread: it can crash anywhere and be replaced.
import { setImmediate as turn } from "node:timers/promises";
import { clickReader } from "../../../src/redirect/clicks/click-event.ts";
import { ClickWriter } from "../../../src/redirect/clicks/click-writer.ts";
import { geoOf } from "../../../src/redirect/clicks/enrich/geo.ts";
import { addHit, emptyBatch, type HitBatch, packTarget } from "../../../src/redirect/clicks/hit.ts";
import type { RecorderReport, SpoolReport } from "../../../src/redirect/clicks/recorder-report.ts";
import { visitorCodes } from "../../../src/redirect/clicks/visitors/visitor.ts";
import { ClickOutbox } from "../../../src/redirect/spool/click-outbox.ts";
import { sqliteClickSpools } from "../../../src/redirect/spool/click-spool.sqlite.ts";
import type { ClickSpool, ClickSpools } from "../../../src/redirect/spool/click-spool.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { type FaultyEventStore, faultyEventStore, turns } from "../event-store/faulty-event-store.ts";
import { clickedLink } from "./clicked-link.ts";

const link = packTarget(clickedLink);

const FACTS = {
  method: "GET",
  address: "203.0.113.9",
  country: "",
  userAgent: "",
  referrer: "",
  language: "",
} as const;

/** The HTTP thread of a simulated process, which keeps hits until they are reported as committed. */
export type Sender = {
  writer: string;
  unacknowledged: Map<number, HitBatch>;
  revisions: Map<string, number>;
  /** Terms of the clicks that were reported as committed. */
  accepted: string[];
  sent: number;
  batches: number;
};

export type SimulatedRecorderOptions = {
  folder: string;
  store: EventStore;
  maxBytes?: number;
  at?: (hit: number) => number;
};

let threads = 0;
/** Shared by all simulated recorders, because creating its caches takes longer than one of them runs. */
const clickOf = clickReader(geoOf(undefined, undefined));

export function newSender(writer: string): Sender {
  return { writer, unacknowledged: new Map(), revisions: new Map(), accepted: [], sent: 0, batches: 0 };
}

export function termOf(sender: Sender, number: number): string {
  return `${sender.writer}-${number}`;
}

/** Converts milliseconds to turns of the event loop, so that an outage of seconds passes quickly. */
async function sleepInTurns(ms: number, signal?: AbortSignal): Promise<void> {
  for (let remaining = Math.ceil(ms / 25); remaining > 0 && !signal?.aborted; remaining--) await turn();
}

export class SimulatedRecorder {
  readonly eventStore: FaultyEventStore;
  readonly problems: string[] = [];
  spool: SpoolReport = { type: "spool", clicks: 0, bytes: 0, full: false };
  /** Highest number of clicks in the spool so far. */
  largestSpool = 0;
  readonly #sender: Sender;
  readonly #at: (hit: number) => number;
  readonly #opened = new Set<ClickSpool>();
  readonly #outbox: ClickOutbox;
  readonly #writer: ClickWriter;

  /** Gets the sender's uncommitted batches again first, as a new thread of the same process does. */
  constructor(
    sender: Sender,
    { folder, store, maxBytes = 1_000_000_000, at = () => 1_780_000_000_000 }: SimulatedRecorderOptions,
  ) {
    this.#sender = sender;
    this.#at = at;
    this.eventStore = faultyEventStore(store, () => this.crash());
    const name = `${sender.writer}-${String(threads++).padStart(8, "0")}`;
    this.#outbox = new ClickOutbox({
      eventStore: this.eventStore,
      spools: this.#keepingTrack(sqliteClickSpools(folder, { name, maxBytes, minFreeBytes: 0 })),
      sleep: sleepInTurns,
      random: () => 0.5,
      report: (report) => this.#onReport(report),
    });
    this.#writer = new ClickWriter({
      outbox: this.#outbox,
      clickOf,
      visitors: async () => visitorCodes(new Uint8Array(32)),
      writer: sender.writer,
      revisions: sender.revisions,
      report: (report) => this.#onReport(report),
    });
    for (const batch of sender.unacknowledged.values()) this.#writer.push(batch);
  }

  get hasCrashed(): boolean {
    return this.eventStore.crashed;
  }

  /** One batch of clicks. */
  send(clicks: number): void {
    const sender = this.#sender;
    const batch = emptyBatch(++sender.batches, sender.sent);
    for (let i = 0; i < clicks; i++) {
      const number = sender.sent++;
      addHit(batch, {
        ...FACTS,
        link,
        at: this.#at(number),
        query: `utm_term=${termOf(sender, number)}`,
        prefetch: "",
      });
    }
    sender.unacknowledged.set(batch.batch, batch);
    this.#writer.push(batch);
  }

  /** Resolves with true when everything sent is committed; with false when that takes too long or it crashes. */
  async settled(): Promise<boolean> {
    return this.#until(() => this.#sender.unacknowledged.size === 0);
  }

  /** The same, and all spools of the folder are empty. */
  async drained(): Promise<boolean> {
    await turns(3);
    return this.#until(() => this.#sender.unacknowledged.size === 0 && this.spool.clicks === 0);
  }

  /** As after `kill -9`: nothing more is reported or appended; only the locks of the spools are released. */
  crash(): void {
    this.eventStore.crashed = true;
    for (const spool of this.#opened) spool.close();
  }

  async close(): Promise<void> {
    await this.#outbox.close();
  }

  async #until(condition: () => boolean): Promise<boolean> {
    for (let i = 0; i < 20_000 && !this.hasCrashed; i++) {
      if (condition()) return true;
      await turn();
    }
    return false;
  }

  #onReport(report: RecorderReport): void {
    if (this.hasCrashed) return;
    if (report.type === "spool") {
      this.spool = report;
      this.largestSpool = Math.max(this.largestSpool, report.clicks);
    }
    if (report.type === "problem") this.problems.push(report.message);
    if (report.type !== "committed") return;
    for (const [stream, revision] of report.reached) this.#sender.revisions.set(stream, revision);
    for (const [number, batch] of this.#sender.unacknowledged) {
      if (number > report.upTo) break;
      this.#sender.unacknowledged.delete(number);
      for (let i = 0; i < batch.count; i++) this.#sender.accepted.push(termOf(this.#sender, batch.first + i));
    }
  }

  #keepingTrack(spools: ClickSpools): ClickSpools {
    const keep = (spool: ClickSpool) => {
      this.#opened.add(spool);
      return spool;
    };
    return {
      openOwn: () => keep(spools.openOwn()),
      openOrphaned: (onUnreadable) => (this.hasCrashed ? [] : spools.openOrphaned(onUnreadable).map(keep)),
    };
  }
}
