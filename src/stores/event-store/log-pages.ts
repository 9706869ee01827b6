// Reads a part of the log: page by page, so that a reader of a long part holds one page at a time, or as of a position.
import { type TimeSlices, timeSlices } from "../../runtime/threads/time-slices.ts";
import { type EventStore, type LogPage, type Position, type ReadAllOptions, START } from "./port.ts";

/** Sorts behind every position. */
const LAST = "~";

/** `upTo` is inclusive, and by default the end of the log. */
export type LogPart = ReadAllOptions & {
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
): AsyncGenerator<LogPage> {
  let last = after ?? START;
  let first = from;
  while (last < upTo) {
    const start = first === undefined ? { after: last } : { from: first };
    const page = await eventStore.readAll({ ...options, ...start });
    await slices.next();
    [last, first] = [page.next, undefined];
    yield until(page, upTo);
    if (page.events.length < options.limit) return;
    await slices.next();
  }
}

/** The log as it was at a position, so that it can be folded up to there and no further. */
export function upTo(eventStore: EventStore, position: Position): EventStore {
  const noEnd = () => {
    throw new Error("The log of the past has an end");
  };
  return {
    append: () => Promise.reject(new Error("The log of the past is only read")),
    read: async (stream, options) =>
      (await eventStore.read(stream, options)).filter((event) => event.position <= position),
    readAll: async (options) => until(await eventStore.readAll(options), position),
    readStored: async (options) => until(await eventStore.readStored(options), position),
    idAt: (place) => eventStore.idAt(place),
    structureProblems: (categories) => eventStore.structureProblems(categories),
    subscribe: noEnd,
    subscribeAsRead: noEnd,
    head: async () => position,
    close: async () => undefined,
  };
}

/** What of a page is not behind `upTo`. */
function until<E extends { position: Position }>(page: LogPage<E>, upTo: Position): LogPage<E> {
  if (page.next <= upTo) return page;
  return { events: page.events.filter(({ position }) => position <= upTo), next: upTo };
}
