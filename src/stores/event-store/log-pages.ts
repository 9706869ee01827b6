// Reads a part of the log: page by page, so that a reader of a long part holds one page at a time, or as of a position.
import { type TimeSlices, timeSlices } from "../../runtime/threads/time-slices.ts";
import type { EventStore, Position, ReadAllOptions, RecordedEvent } from "./port.ts";

/** Sorts behind every position. */
const LAST = "~";

/** `upTo` is inclusive, and by default the end of the log; `after` may be "" for its start. */
export type LogPart = Omit<ReadAllOptions, "after"> & {
  after?: Position | undefined;
  upTo?: Position | undefined;
  /** Of a reader that shares them with other work; by default those of this part of the log. */
  slices?: TimeSlices | undefined;
};

/**
 * In the order of the log; `limit` is of a page. A page may be empty. The thread takes its messages before and after each, as a
 * store may read without waiting. @throws StoreUnavailable, what the slices throw
 */
export async function* logPages(
  eventStore: Pick<EventStore, "readAll">,
  { upTo = LAST, after, from, slices = timeSlices(), ...options }: LogPart,
): AsyncGenerator<RecordedEvent[]> {
  let start: Pick<ReadAllOptions, "after" | "from"> =
    from === undefined ? { after: after || undefined } : { from };
  for (let last = after ?? ""; last < upTo; start = { after: last }) {
    const page = await eventStore.readAll({ ...start, ...options });
    await slices.next();
    last = page.at(-1)?.position ?? upTo;
    yield last > upTo ? page.filter(({ position }) => position <= upTo) : page;
    if (page.length < options.limit) return;
    await slices.next();
  }
}

/** The log as it was at a position, so that it can be folded up to there and no further. */
export function upTo(eventStore: EventStore, position: Position): EventStore {
  return {
    append: () => Promise.reject(new Error("The log of the past is only read")),
    read: async (stream, options) =>
      (await eventStore.read(stream, options)).filter((event) => event.position <= position),
    readAll: async (options) =>
      (await eventStore.readAll(options)).filter((event) => event.position <= position),
    readStored: async (options) =>
      (await eventStore.readStored(options)).filter((event) => event.position <= position),
    structureProblems: () => eventStore.structureProblems(),
    subscribe: () => {
      throw new Error("The log of the past has an end");
    },
    head: async () => position,
    close: async () => undefined,
  };
}
