// Opens the stores of the embedded deployment: SQLite files in the data folder.
import { join } from "node:path";
import { fileDailySalts } from "../../redirect/clicks/visitors/daily-salts.files.ts";
import { openers } from "../../stores/connections/openers.ts";
import { alterationsOf } from "../../stores/connections/structure.sqlite.ts";
import { memoryLeases } from "../../stores/coordination/leases.memory.ts";
import { openSqliteCounts } from "../../stores/counts/counts.sqlite.ts";
import { openSqliteEventStore, remoteAppends } from "../../stores/event-store/sqlite/event-store.ts";
import { openSqliteReadStore } from "../../stores/read-store/read-store.sqlite.ts";
import { encryptedSecrets } from "../../stores/secrets/encrypted-secrets.ts";
import { openSqliteSecrets, remoteSecrets } from "../../stores/secrets/secret-store.sqlite.ts";
import { openSqliteDeliveryQueue, remoteDeliveryQueue } from "../../webhooks/queue/queue.sqlite.ts";
import { begunLog } from "./begun-log.ts";
import { hiddenBy, keyringFor, type StoreOptions, type Stores, type StoresConfig } from "./stores.ts";

export function embeddedStores(config: StoresConfig, options: StoreOptions): Stores {
  const { opener, close } = openers();
  const fileOf = (name: string) => join(config.dataDir, name);
  const logFile = fileOf("events.db");
  const leases = memoryLeases(() => performance.now());
  const { writer, reader } = options.threads ?? {};
  const logInFile = opener(() =>
    openSqliteEventStore(logFile, writer ? { ...options, appends: remoteAppends(writer) } : options),
  );
  const begun = begunLog(logInFile, options);
  const storedSecrets = opener(() =>
    writer ? remoteSecrets(writer) : openSqliteSecrets(fileOf("secrets.db"), options),
  );
  const secrets = opener(async () => encryptedSecrets(await storedSecrets(), keyringFor(config, options)));
  const foldStore = opener(() => openSqliteReadStore(fileOf("read.db"), { ...options, thread: reader }));
  const queueInFile = opener(() => openSqliteDeliveryQueue(fileOf("deliveries.db"), options));
  const deliveryQueue = reader ? opener(() => remoteDeliveryQueue(reader, queueInFile)) : queueInFile;
  return {
    preparesAtOpening: true,
    eventStore: begun.eventStore,
    begun,
    async openVerifiableLog() {
      const eventStore = await openSqliteEventStore(logFile, { readOnly: true });
      // Of the other files at each opening, too; here whatever was put into them since.
      const others = ["read.db", "secrets.db", "deliveries.db", "limits.db"].map(fileOf);
      const structureProblems = async (categories: readonly string[]) => [
        ...(await eventStore.structureProblems(categories)),
        ...others.flatMap((file) => alterationsOf(file)).map((what) => ({ what })),
      ];
      return { ...eventStore, structureProblems };
    },
    foldStore,
    secrets,
    deliveryQueue,
    leases: async () => leases,
    counts: opener(() => openSqliteCounts(fileOf("limits.db"), hiddenBy(config, options), options.log)),
    redis: async () => undefined,
    dailySalts: async () => fileDailySalts(fileOf("visitor-salts")),
    journal: () => undefined,
    served: {
      writer: { log: async () => (await logInFile()).appends, secrets: storedSecrets },
      reader: { readStore: foldStore, queue: deliveryQueue },
    },
    prepare: async () => (await secrets()).checkKey(),
    close,
  };
}
