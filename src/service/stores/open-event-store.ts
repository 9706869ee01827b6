// Opens the event store: EventStoreDB or KurrentDB when EVENTSTORE_URL is set, else a SQLite file in the data folder.
import { join } from "node:path";
import { BadConfig, type Config } from "../../config/config.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import { prefixedEventStore } from "../../stores/event-store/prefixed-event-store.ts";
import { integrityProblems, openSqliteEventStore } from "../../stores/event-store/sqlite/event-store.ts";

export type EventStoreConfig = Pick<Config, "dataDir"> &
  Partial<Pick<Config, "eventStoreUrl" | "eventStorePrefix">>;

export type EventStoreOptions = {
  /** The embedded store runs in a thread of its own, so that the caller never waits for the disk. */
  offThread: boolean;
  /** How often the embedded store looks for events of other threads and processes; its own default when absent. */
  pollMs?: number;
  /** Events of the embedded store whose text isn't as it was written are unreadable; not with `offThread`. */
  isChecked?: boolean;
  /** Nothing in the data folder changes, so that it may be one that can't be written; not with `offThread`. */
  readOnly?: boolean | undefined;
};

/**
 * A server that is unavailable is no error here: calls fail until it answers.
 * @throws BadConfig for an EVENTSTORE_URL that the driver refuses; StoreUnavailable for a file that can't be opened
 */
export async function openEventStore(
  { dataDir, eventStoreUrl, eventStorePrefix }: EventStoreConfig,
  options: EventStoreOptions,
): Promise<EventStore> {
  if (eventStoreUrl) return await openEventStoreServer(eventStoreUrl, eventStorePrefix);
  return await openSqliteEventStore(logFile(dataDir), options);
}

/** `integrityProblems`: what SQLite finds wrong with its file, a line each; undefined on a server. */
export type VerifiableLog = {
  eventStore: EventStore;
  integrityProblems: (() => Promise<string[]>) | undefined;
  close(): Promise<void>;
};

/** @throws as openEventStore does */
export async function openVerifiableLog(config: EventStoreConfig): Promise<VerifiableLog> {
  const eventStore = await openEventStore(config, { offThread: false, isChecked: true, readOnly: true });
  return {
    eventStore,
    integrityProblems: config.eventStoreUrl
      ? undefined
      : async () => integrityProblems(logFile(config.dataDir)),
    close: () => eventStore.close(),
  };
}

function logFile(dataDir: string): string {
  return join(dataDir, "events.db");
}

async function openEventStoreServer(url: string, prefix = ""): Promise<EventStore> {
  const { openEventStoreDb } = await import("../../stores/event-store/eventstoredb/event-store.ts");
  try {
    return prefixedEventStore(await openEventStoreDb(url), prefix);
  } catch (error) {
    throw new BadConfig([`EVENTSTORE_URL: ${(error as Error).message}`]);
  }
}
