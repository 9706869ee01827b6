// The only file that knows which adapters stand behind the ports: opens them, and closes them in order.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";
import type { EventStore } from "./event-store/port.ts";
import { openSqliteEventStore } from "./event-store/sqlite.ts";
import { allProjections } from "./projections/groups.ts";
import type { ReadStore } from "./read-store/port.ts";
import { openSqliteReadStore } from "./read-store/sqlite.ts";
import type { Secrets } from "./secrets/port.ts";
import { openSqliteSecrets } from "./secrets/sqlite.ts";
import { openSqliteDeliveryQueue } from "./webhooks/queue.sqlite.ts";
import type { DeliveryQueue } from "./webhooks/queue.ts";

export type Backend = {
  eventStore: EventStore;
  readStore: ReadStore;
  secrets: Secrets;
  deliveryQueue: DeliveryQueue;
  close(): Promise<void>;
};

/**
 * Opens the stores, makes the data folder and the collections that are missing. `offThreadEventStore`: appends and
 * their fsync run in a thread of the store's own, for a thread that must not wait on the disk (HTTP).
 */
export async function openBackend(
  config: Pick<Config, "dataDir">,
  options: { offThreadEventStore: boolean },
): Promise<Backend> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const opened: { close(): Promise<void> }[] = [];
  const open = async <S extends { close(): Promise<void> }>(store: Promise<S>): Promise<S> => {
    const ready = await store;
    opened.unshift(ready);
    return ready;
  };
  const close = async () => {
    for (const store of opened.splice(0)) await store.close();
  };
  try {
    const secrets = await open(openSqliteSecrets(join(config.dataDir, "secrets.db")));
    const readStore = await open(openSqliteReadStore(join(config.dataDir, "read.db")));
    const deliveryQueue = await open(openSqliteDeliveryQueue(join(config.dataDir, "deliveries.db")));
    const eventStore = await open(
      openSqliteEventStore(join(config.dataDir, "events.db"), { offThread: options.offThreadEventStore }),
    );
    await readStore.ensure(allProjections.map((projection) => projection.collection));
    return { eventStore, readStore, secrets, deliveryQueue, close };
  } catch (error) {
    await close();
    throw error;
  }
}
