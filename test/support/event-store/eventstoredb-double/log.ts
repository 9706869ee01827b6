// The log behind the double, in memory, with the real server's positions and its rules for appends that come again.
import { randomUUID } from "node:crypto";
import { categoryOf } from "../../../../src/stores/event-store/categories.ts";
import {
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  RevisionConflict,
  START,
} from "../../../../src/stores/event-store/port.ts";
import { Others } from "./others.ts";

/** As it comes from a client; nothing looks into data and metadata. */
export type Proposed = { id: string; type: string; contentType: string; data: Buffer; metadata: Buffer };

export type Stored = Proposed & { stream: string; revision: number; offset: number; created: number };

/** Byte offsets, as on the real server: no two events follow each other at a distance of one. */
const STRIDE = 100;

/** The server's own marks: of metadata, which are events of a stream beside, and of a stream that is deleted for good. */
const METADATA = "$$";
export const TOMBSTONE = "$streamDeleted";

/** In metadata, of a stream that was deleted and may begin again. */
const DELETED = "9223372036854775807";

export class DoubleLog {
  readonly events: Stored[] = [];
  #streams = new Map<string, Stored[]>();
  #waiting: (() => void)[] = [];
  /** They write before ours, and beside each append. */
  readonly others = new Others(this);

  /** What a read of it shows; undefined for one that is missing or was deleted. */
  stream(name: string): readonly Stored[] | undefined {
    const events = this.#streams.get(name);
    const { $tb: before = 0, $maxCount: most = events?.length } = this.#metadataOf(name);
    const isDeleted = before > Number.MAX_SAFE_INTEGER;
    return isDeleted ? undefined : events?.filter(({ revision }) => revision >= before).slice(-(most ?? 0));
  }

  /** Of its last event, also of one that no read shows; -1 for none. */
  lastRevision(name: string): number {
    return (this.#streams.get(name)?.length ?? 0) - 1;
  }

  isTombstoned(name: string): boolean {
    return this.#streams.get(name)?.at(-1)?.type === TOMBSTONE;
  }

  /** Its events stay in the log. Returns the event that says so. */
  delete(name: string): Stored {
    return this.write(METADATA + name, [ownEvent("$metadata", `{"$tb":${DELETED}}`)]);
  }

  tombstone(name: string): Stored {
    return this.write(name, [ownEvent(TOMBSTONE, "")]);
  }

  /** The last event of the append, whether it is new or was there; undefined for a conflict. */
  append(stream: string, expected: number, events: readonly Proposed[]): Stored | undefined {
    const there = this.#streams.get(stream) ?? [];
    const again = there.slice(expected + 1, expected + 1 + events.length);
    const isThere = again.length === events.length && again.every(({ id }, n) => id === events[n]?.id);
    if (isThere) return again.at(-1);
    const isDeleted = there.length > 0 && this.stream(stream) === undefined;
    if (expected !== there.length - 1 && !(isDeleted && expected === -1)) return undefined;
    // A stream that was deleted goes on behind what it had.
    if (isDeleted) this.write(METADATA + stream, [ownEvent("$metadata", `{"$tb":${there.length}}`)]);
    const last = this.write(stream, events);
    this.others.writeBeside(stream);
    return last;
  }

  /** Index of the first event after an offset. @throws RangeError where no event starts */
  indexAfter(offset: number): number {
    if (offset % STRIDE !== 0 || offset / STRIDE > this.events.length)
      throw new RangeError("Trying to read from an invalid position.");
    return offset / STRIDE;
  }

  /** As after an older copy of it, which had so many events, was put back. */
  putBack(events: number): void {
    this.events.length = events;
    this.#streams = Map.groupBy(this.events, ({ stream }) => stream);
  }

  /** Users and groups that may read the whole log, as the metadata of `$all` have it. */
  readers(): readonly string[] {
    return this.#metadataOf("$all").$acl?.$r ?? ["$admins"];
  }

  async grown(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Whatever is there; nobody else writes beside it. */
  write(stream: string, events: readonly Proposed[]): Stored {
    const there = this.#streams.get(stream) ?? [];
    for (const event of events) {
      const offset = (this.events.length + 1) * STRIDE;
      const stored = { ...event, stream, revision: there.length, offset, created: Date.now() };
      there.push(stored);
      this.events.push(stored);
    }
    this.#streams.set(stream, there);
    for (const wake of this.#waiting.splice(0)) wake();
    return there.at(-1) as Stored;
  }

  #metadataOf(name: string): { $tb?: number; $maxCount?: number; $acl?: { $r?: string[] } } {
    const newest = this.#streams.get(METADATA + name)?.at(-1);
    return newest ? JSON.parse(String(newest.data)) : {};
  }
}

function ownEvent(type: string, data: string): Proposed {
  const contentType = "application/json";
  return { id: randomUUID(), type, contentType, data: Buffer.from(data), metadata: Buffer.alloc(0) };
}

/** For tests that write or look behind the double's back: neither its script nor its wire takes part. */
export function storeOf(log: DoubleLog): EventStore {
  const positionOf = (offset: number) => [offset, offset].map((n) => String(n).padStart(20, "0")).join(":");
  const recorded = ({ id, type, stream, revision, offset, created, ...bytes }: Stored): RecordedEvent => ({
    ...{
      id,
      type,
      stream,
      revision,
      position: positionOf(offset),
      recordedAt: new Date(created).toISOString(),
    },
    ...{ data: JSON.parse(String(bytes.data)), metadata: JSON.parse(String(bytes.metadata)) },
  });
  const notHere = () => {
    throw new Error("Subscribe through the adapter");
  };
  return {
    async append(stream, expected, events) {
      const last = log.append(stream, expected === "none" ? -1 : expected, events.map(proposed));
      if (last) return { revision: last.revision, position: positionOf(last.offset) };
      throw new RevisionConflict(stream, expected, log.lastRevision(stream));
    },
    async read(stream, { from = 0, limit = Number.POSITIVE_INFINITY } = {}) {
      return (log.stream(stream) ?? []).slice(from, from + limit).map(recorded);
    },
    async readAll({ after = START, categories, limit }) {
      const isWanted = (event: Stored) =>
        positionOf(event.offset) > after && categories.includes(categoryOf(event.stream));
      const events = log.events.filter(isWanted).slice(0, limit).map(recorded);
      return { events, next: events.at(-1)?.position ?? after };
    },
    readStored: () => Promise.reject(new Error("Read through the adapter")),
    idAt: () => Promise.reject(new Error("Ask through the adapter")),
    structureProblems: () => Promise.reject(new Error("Ask through the adapter")),
    subscribe: notHere,
    subscribeAsRead: notHere,
    head: async () => positionOf(log.events.at(-1)?.offset ?? 0),
    close: async () => undefined,
  };
}

function proposed({ id, type, data, metadata }: NewEvent): Proposed {
  const [dataBytes, metadataBytes] = [data, metadata].map((value) => Buffer.from(JSON.stringify(value)));
  return { id, type, contentType: "application/json", data: dataBytes, metadata: metadataBytes } as Proposed;
}
