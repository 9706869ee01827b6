// The log behind the double, in memory, with the real server's positions and its rules for appends that come again.
import { categoryOf } from "../../../../src/stores/event-store/categories.ts";
import {
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  RevisionConflict,
} from "../../../../src/stores/event-store/port.ts";

/** As it comes from a client; nothing looks into data and metadata. */
export type Proposed = { id: string; type: string; contentType: string; data: Buffer; metadata: Buffer };

export type Stored = Proposed & { stream: string; revision: number; offset: number; created: number };

/** Byte offsets, as on the real server: no two events follow each other at a distance of one. */
const STRIDE = 100;

export class DoubleLog {
  readonly events: Stored[] = [];
  readonly #streams = new Map<string, Stored[]>();
  #waiting: (() => void)[] = [];

  stream(name: string): readonly Stored[] {
    return this.#streams.get(name) ?? [];
  }

  /** The last event of the append, whether it is new or was there; undefined for a conflict. */
  append(stream: string, expected: number, events: readonly Proposed[]): Stored | undefined {
    const there = this.#streams.get(stream) ?? [];
    const again = there.slice(expected + 1, expected + 1 + events.length);
    const isThere = again.length === events.length && again.every(({ id }, n) => id === events[n]?.id);
    if (isThere) return again.at(-1);
    if (expected !== there.length - 1) return undefined;
    for (const event of events) {
      const offset = (this.events.length + 1) * STRIDE;
      const stored = { ...event, stream, revision: there.length, offset, created: Date.now() };
      there.push(stored);
      this.events.push(stored);
    }
    this.#streams.set(stream, there);
    for (const wake of this.#waiting.splice(0)) wake();
    return there.at(-1);
  }

  /** Index of the first event after an offset. @throws RangeError where no event starts */
  indexAfter(offset: number): number {
    if (offset % STRIDE !== 0 || offset / STRIDE > this.events.length)
      throw new RangeError("Trying to read from an invalid position.");
    return offset / STRIDE;
  }

  async grown(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
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
  return {
    async append(stream, expected, events) {
      const last = log.append(stream, expected === "none" ? -1 : expected, events.map(proposed));
      if (last) return { revision: last.revision, position: positionOf(last.offset) };
      throw new RevisionConflict(stream, expected, log.stream(stream).length - 1);
    },
    async read(stream, { from = 0, limit = Number.POSITIVE_INFINITY } = {}) {
      return log
        .stream(stream)
        .slice(from, from + limit)
        .map(recorded);
    },
    async readAll({ after = "", categories, limit }) {
      const isWanted = (event: Stored) =>
        positionOf(event.offset) > after && categories.includes(categoryOf(event.stream));
      return log.events.filter(isWanted).slice(0, limit).map(recorded);
    },
    readStored: () => Promise.reject(new Error("Read through the adapter")),
    structureProblems: () => Promise.reject(new Error("Ask through the adapter")),
    subscribe: () => {
      throw new Error("Subscribe through the adapter");
    },
    head: async () => positionOf(log.events.at(-1)?.offset ?? 0),
    close: async () => undefined,
  };
}

function proposed({ id, type, data, metadata }: NewEvent): Proposed {
  const [dataBytes, metadataBytes] = [data, metadata].map((value) => Buffer.from(JSON.stringify(value)));
  return { id, type, contentType: "application/json", data: dataBytes, metadata: metadataBytes } as Proposed;
}
