// Opens the event store: EventStoreDB or KurrentDB when EVENTSTORE_URL is set, else a SQLite file in the data folder.
import { join } from "node:path";
import { BadConfig, type Config } from "../config.ts";
import type { LogArchive } from "../event-store/log-archive.ts";
import type { LogIndexCheck } from "../event-store/log-index-check.ts";
import type { EventStore } from "../event-store/port.ts";
import { prefixedEventStore } from "../event-store/prefixed-event-store.ts";
import { type LogArchiveDeps, openLogArchive } from "../event-store/sqlite/archive/log-archive.ts";
import { openSqliteEventStore } from "../event-store/sqlite/event-store.ts";
import { openLogIndexCheck } from "../event-store/sqlite/index-check/log-index-check.ts";

export type EventStoreConfig = Pick<Config, "dataDir"> &
  Partial<Pick<Config, "eventStoreUrl" | "eventStorePrefix">>;

export type EventStoreOptions = {
  /** The embedded store runs in a thread of its own, so that the caller never waits for the disk. */
  offThread: boolean;
  /** How often the embedded store looks for events of other threads and processes; its own default when absent. */
  pollMs?: number;
  /** Leaves out what can't be read of the embedded store and its archive files, to check the rest; not with `offThread`. */
  skipUnreadable?: boolean;
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

/** Undefined where a server has the log. @throws SQLite's error when the file can't be opened */
export function openEmbeddedArchive(
  { dataDir, eventStoreUrl }: EventStoreConfig,
  deps: LogArchiveDeps,
  options: { readOnly?: boolean } = {},
): LogArchive | undefined {
  return eventStoreUrl ? undefined : openLogArchive(logFile(dataDir), deps, options);
}

/**
 * `archive`, `indexCheck`: undefined on a server. The event store leaves out what can't be read of it, so that the rest is
 * verified.
 */
export type VerifiableLog = {
  eventStore: EventStore;
  archive: LogArchive | undefined;
  indexCheck: LogIndexCheck | undefined;
  close(): Promise<void>;
};

/** @throws as openEventStore and openEmbeddedArchive do */
export async function openVerifiableLog(
  config: EventStoreConfig,
  deps: LogArchiveDeps,
): Promise<VerifiableLog> {
  const archive = openEmbeddedArchive(config, deps, { readOnly: true });
  const eventStore = await openEventStore(config, { offThread: false, skipUnreadable: true, readOnly: true });
  const indexCheck = config.eventStoreUrl ? undefined : openLogIndexCheck(logFile(config.dataDir), deps);
  const close = async () => {
    archive?.close();
    indexCheck?.close();
    await eventStore.close();
  };
  return { eventStore, archive, indexCheck, close };
}

function logFile(dataDir: string): string {
  return join(dataDir, "events.db");
}

async function openEventStoreServer(url: string, prefix = ""): Promise<EventStore> {
  const { openEventStoreDb } = await import("../event-store/eventstoredb/event-store.ts");
  try {
    return prefixedEventStore(await openEventStoreDb(url), prefix);
  } catch (error) {
    throw new BadConfig([`EVENTSTORE_URL: ${(error as Error).message}`]);
  }
}
