// Opens the stores of the embedded deployment: SQLite files in the data folder, and memory for what one process counts.
import { join } from "node:path";
import { memoryRateLimits } from "../../api/limits/rate-limit.memory.ts";
import { fileDailySalts } from "../../redirect/clicks/visitors/daily-salts.files.ts";
import { memoryVisitCounter } from "../../redirect/visits/visit-counter.memory.ts";
import { openers } from "../../stores/connections/openers.ts";
import { alterationsOf } from "../../stores/connections/structure.sqlite.ts";
import { memoryLeases } from "../../stores/coordination/leases.memory.ts";
import { openSqliteEventStore } from "../../stores/event-store/sqlite/event-store.ts";
import { openSqliteReadStore } from "../../stores/read-store/sqlite/read-store.ts";
import { encryptedSecrets } from "../../stores/secrets/encrypted-secrets.ts";
import { openSqliteSecrets } from "../../stores/secrets/sqlite.ts";
import { openSqliteDeliveryQueue } from "../../webhooks/queue/queue.sqlite.ts";
import { keyringFor, type StoreOptions, type Stores, type StoresConfig } from "./stores.ts";

export function embeddedStores(config: StoresConfig, options: StoreOptions): Stores {
  const { opener, close } = openers();
  const fileOf = (name: string) => join(config.dataDir, name);
  const log = fileOf("events.db");
  const leases = memoryLeases(() => performance.now());
  const secrets = opener(async () =>
    encryptedSecrets(await openSqliteSecrets(fileOf("secrets.db"), options), keyringFor(config, options)),
  );
  return {
    preparesAtOpening: true,
    eventStore: opener(() => openSqliteEventStore(log, options)),
    async openVerifiableLog() {
      const eventStore = await openSqliteEventStore(log, { offThread: false, readOnly: true });
      // Of the other files at each opening, too; here whatever was put into them since.
      const others = ["read.db", "secrets.db", "deliveries.db"].map(fileOf);
      const structureProblems = async () => [
        ...(await eventStore.structureProblems()),
        ...others.flatMap((file) => alterationsOf(file)).map((what) => ({ what })),
      ];
      return { eventStore, structureProblems, close: () => eventStore.close() };
    },
    foldStore: opener(() => openSqliteReadStore(fileOf("read.db"), options)),
    secrets,
    deliveryQueue: opener(() => openSqliteDeliveryQueue(fileOf("deliveries.db"), options)),
    leases: async () => leases,
    coordination: async () => ({
      redis: undefined,
      rateLimits: () => memoryRateLimits(),
      visitCounter: () => memoryVisitCounter(),
    }),
    dailySalts: async () => fileDailySalts(fileOf("visitor-salts")),
    clickSpools: () => undefined,
    prepare: async () => (await secrets()).checkKey(),
    close,
  };
}
