// The writer thread's work on a data folder, simulated in the test's thread: it can crash anywhere and be replaced.
import { setImmediate as turn } from "node:timers/promises";
import {
  type ClickWriter,
  clickWriter,
  type JournalStatus,
} from "../../../src/redirect/clicks/append-clicks.ts";
import { batchReader, clickReader } from "../../../src/redirect/clicks/click-event.ts";
import { geoOf } from "../../../src/redirect/clicks/enrich/geo.ts";
import { addHit, emptyBatch, type HitBatch, packTarget } from "../../../src/redirect/clicks/hit.ts";
import { ClickJournal } from "../../../src/redirect/clicks/journal.ts";
import { sqliteJournalFiles } from "../../../src/redirect/clicks/journal-file.sqlite.ts";
import type { JournalFile, JournalFiles } from "../../../src/redirect/clicks/journal-file.ts";
import { visitorCodes } from "../../../src/redirect/clicks/visitors/visitor.ts";
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
  prefetch: "",
} as const;

/** The HTTP thread of a simulated process, which keeps batches until they are stored. */
export type Sender = {
  writer: string;
  unstored: HitBatch[];
  revisions: Map<string, number>;
  /** Terms of the clicks that were answered as stored. */
  accepted: string[];
  sent: number;
};

export type SimulatedWriterOptions = {
  folder: string;
  store: EventStore;
  maxBytes?: number;
  at?: (hit: number) => number;
  logId?: string;
};

let files = 0;
/** Shared by all simulated writers, because creating its caches takes longer than one of them runs. */
const clickOf = clickReader(geoOf(undefined, undefined));

export function newSender(writer: string): Sender {
  return { writer, unstored: [], revisions: new Map(), accepted: [], sent: 0 };
}

export function termOf(sender: Sender, number: number): string {
  return `${sender.writer}-${number}`;
}

/** Converts milliseconds to turns of the event loop, so that an outage of seconds passes quickly. */
async function sleepInTurns(ms: number, signal?: AbortSignal): Promise<void> {
  for (let remaining = Math.ceil(ms / 25); remaining > 0 && !signal?.aborted; remaining--) await turn();
}

export class SimulatedWriter {
  readonly eventStore: FaultyEventStore;
  readonly logged: string[] = [];
  /** Dies between the next store and its answer. */
  losesAnswer = false;
  readonly #sender: Sender;
  readonly #at: (hit: number) => number;
  readonly #opened = new Set<JournalFile>();
  readonly #journal: ClickJournal;
  readonly #writer: ClickWriter;
  #isSending = false;

  /** Gets the sender's batches that are not stored again first, as a new thread of the same process does. */
  constructor(
    sender: Sender,
    {
      folder,
      store,
      maxBytes = 1_000_000_000,
      at = () => 1_780_000_000_000,
      logId = "log-1",
    }: SimulatedWriterOptions,
  ) {
    this.#sender = sender;
    this.#at = at;
    this.eventStore = faultyEventStore(store, () => this.crash());
    const newName = () => `${sender.writer}-${String(files++).padStart(8, "0")}`;
    const note = (_: object | string, message?: string) => void this.logged.push(message ?? String(_));
    const log = { info: note, warn: note };
    this.#journal = new ClickJournal({
      eventStore: this.eventStore,
      files: this.#keepingTrack(sqliteJournalFiles(folder, { newName, maxBytes, minFreeBytes: 0 })),
      logId: async () => logId,
      notedLogId: async () => logId,
      sleep: sleepInTurns,
      random: () => 0.5,
      log,
    });
    const visitors = async () => visitorCodes(new Uint8Array(32));
    this.#writer = clickWriter({
      clock: () => new Date(),
      readBatch: batchReader({ clickOf, visitors, writer: sender.writer, log }),
      eventStore: this.eventStore,
      journal: this.#journal,
      saltProblem: () => undefined,
      log,
    });
    void this.#sendAll();
  }

  get hasCrashed(): boolean {
    return this.eventStore.crashed;
  }

  get journal(): JournalStatus {
    return this.#journal.status();
  }

  /** One batch of clicks. */
  send(clicks: number): void {
    const sender = this.#sender;
    const batch = emptyBatch(sender.sent);
    for (let i = 0; i < clicks; i++) {
      const number = sender.sent++;
      addHit(batch, { ...FACTS, link, at: this.#at(number), query: `utm_term=${termOf(sender, number)}` });
    }
    sender.unstored.push(batch);
    void this.#sendAll();
  }

  /** Resolves with true when everything sent is stored; with false when that takes too long or it crashes. */
  async settled(): Promise<boolean> {
    return this.#until(() => this.#sender.unstored.length === 0);
  }

  /** The same, and all files of the journal are empty. */
  async emptied(): Promise<boolean> {
    await turns(3);
    return this.#until(() => this.#sender.unstored.length === 0 && this.journal.clicks === 0);
  }

  /** As after `kill -9`: nothing more is answered or appended; only the locks of the files are released. */
  crash(): void {
    this.eventStore.crashed = true;
    for (const file of this.#opened) file.close();
  }

  async close(): Promise<void> {
    await this.#journal.close();
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    const sender = this.#sender;
    for (let batch = sender.unstored[0]; batch && !this.hasCrashed; batch = sender.unstored[0]) {
      const written = await this.#writer.write(batch, [...sender.revisions]);
      if (this.losesAnswer) this.crash();
      if (this.hasCrashed) break;
      if (written.stored) {
        for (const [stream, revision] of written.reached) sender.revisions.set(stream, revision);
        for (let n = 0; n < batch.count; n++) sender.accepted.push(termOf(sender, batch.first + n));
        sender.unstored.shift();
      } else await turn();
    }
    this.#isSending = false;
  }

  async #until(condition: () => boolean): Promise<boolean> {
    for (let i = 0; i < 20_000 && !this.hasCrashed; i++) {
      if (condition()) return true;
      await turn();
    }
    return false;
  }

  #keepingTrack(given: JournalFiles): JournalFiles {
    const keep = (file: JournalFile) => {
      this.#opened.add(file);
      return file;
    };
    return {
      ...given,
      create: () => keep(given.create()),
      openLeft: (...asked) => (this.hasCrashed ? [] : given.openLeft(...asked).map(keep)),
      replaceDamaged: (...damaged) => {
        if (this.hasCrashed) throw new Error("crashed");
        return keep(given.replaceDamaged(...damaged));
      },
    };
  }
}
