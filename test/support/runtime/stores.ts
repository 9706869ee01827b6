// Real SQLite stores in a temporary folder, for tests.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { openSqliteEventStore } from "../../../src/stores/event-store/sqlite/event-store.ts";
import type { Checkpoint, Document, ReadStore } from "../../../src/stores/read-store/port.ts";
import { openSqliteReadStore } from "../../../src/stores/read-store/read-store.sqlite.ts";
import { appendNext } from "../event-store/append-next.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export type Stores = { eventStore: EventStore; readStore: ReadStore; close(): Promise<void> };

/** `clock`: of the log. */
type Options = { clock?: () => Date };

export async function openStores(options: Options = {}): Promise<Stores> {
  const folder = await temporaryFolder();
  const eventStore = await openSqliteEventStore(join(folder.path, "events.db"), options);
  const readStore = await openSqliteReadStore(join(folder.path, "read.db"));
  return {
    eventStore,
    readStore,
    async close() {
      await eventStore.close();
      await readStore.close();
      await folder.remove();
    },
  };
}

/** They are closed when the test has ended that is running. */
export async function storesOfTest(options?: Options): Promise<Stores> {
  const stores = await openStores(options);
  onTestFinished(() => stores.close());
  return stores;
}

/** A log of its own beside a read store of the caller's, which is closed with it. */
export async function openStoresWith(readStore: ReadStore): Promise<Stores> {
  const own = await openStores();
  return {
    eventStore: own.eventStore,
    readStore,
    async close() {
      await readStore.close();
      await own.close();
    },
  };
}

/** Of an append of copies. */
const COPIES = 2_000;

/** Appends events to the end of a stream. */
export async function append(eventStore: EventStore, stream: string, events: readonly LinkledgerEvent[]) {
  const origin = { correlationId: "test", causationId: "test", actor: { type: "operator" as const } };
  return await appendNext(
    eventStore,
    stream,
    events.map((event) => newEvent(event, randomUUID(), origin)),
  );
}

/** So many of one event, which is validated once. */
export async function appendCopies(
  eventStore: EventStore,
  stream: string,
  event: LinkledgerEvent,
  count: number,
): Promise<void> {
  const made = newEvent(event, randomUUID());
  for (let n = 0; n < count; n += COPIES) {
    const copies = Array.from({ length: Math.min(COPIES, count - n) }, (_, i) => ({
      ...made,
      id: `${n + i}`,
    }));
    await appendNext(eventStore, stream, copies);
  }
}

/** Writes documents as they are, where there are none or older ones. */
export async function putDocuments(
  readStore: Pick<ReadStore, "write">,
  collection: string,
  documents: readonly Document[],
): Promise<void> {
  await readStore.write({ documents: [{ collection, documents }] });
}

/** Moves a checkpoint from wherever it is. */
export async function putCheckpoint(readStore: ReadStore, name: string, to: Checkpoint): Promise<void> {
  const from = await readStore.checkpoint(name);
  await readStore.write({ documents: [], checkpoint: { name, from, to } });
}
