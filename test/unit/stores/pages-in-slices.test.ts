// Who reads a log or a collection page by page lets its thread take its messages meanwhile, also from a store that reads
// without waiting.
import { expect, it } from "vitest";
import { logPages } from "../../../src/stores/event-store/log-pages.ts";
import { type RecordedEvent, START } from "../../../src/stores/event-store/port.ts";
import { documentPages } from "../../../src/stores/read-store/document-pages.ts";

const PAGES = 20;
const PAGE_MS = 4;

/** Holds the thread, as a query of SQLite does. */
function read<T>(page: readonly T[]): readonly T[] {
  const end = performance.now() + PAGE_MS;
  while (performance.now() < end);
  return page;
}

const pages = {
  "a collection": () => {
    let last = 0;
    const find = async () => read(Array.from({ length: 2 }, () => ({ _id: `${last++}`, _position: "1" })));
    return documentPages({ find: find as never }, "notes", { limit: 2 });
  },
  "a log": () => {
    let last = 0;
    const readAll = async () => {
      const events = read([{ position: String(last++).padStart(9, "0") } as RecordedEvent]);
      return { events, next: String(last).padStart(9, "0") };
    };
    return logPages({ readAll: readAll as never }, { after: START, categories: ["link"], limit: 1 });
  },
};

it.each(Object.entries(pages))("messages are taken between pages of %s", async (_, open) => {
  let [turns, isDone] = [0, false];
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  let seen = 0;
  for await (const page of open()) if (page && ++seen === PAGES) break;
  isDone = true;
  // A slice is ten milliseconds.
  expect(turns).toBeGreaterThanOrEqual((PAGES * PAGE_MS) / 20);
});
