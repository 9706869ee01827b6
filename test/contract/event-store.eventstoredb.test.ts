// The event store contract on the EventStoreDB adapter, over the wire to the double.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { openEventStoreDb } from "../../src/event-store/eventstoredb/event-store.ts";
import { startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import { eventStoreContract } from "./event-store.ts";
import type { EventStoreFixture } from "./event-store-fixture.ts";

const CHILD = fileURLToPath(new URL("./append-for-ever.eventstoredb.ts", import.meta.url));

async function openFixture(): Promise<EventStoreFixture> {
  const double = await startDouble();
  const store = await openEventStoreDb(double.connectionString);
  return {
    store,
    prefix: `t${randomBytes(4).toString("hex")}-`,
    openAnother: () => openEventStoreDb(double.connectionString),
    startAppending: (stream) =>
      spawn(process.execPath, [CHILD, double.connectionString, stream], {
        stdio: ["ignore", "pipe", "inherit"],
      }),
    close: async () => {
      await store.close();
      await double.close();
    },
  };
}

eventStoreContract("EventStoreDB, by its double", openFixture);
