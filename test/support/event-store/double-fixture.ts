// What the EventStoreDB adapter brings to the event store contract when the server is the double.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { openEventStoreDb } from "../../../src/event-store/eventstoredb/event-store.ts";
import type { EventStoreFixture } from "../../contract/event-store-fixture.ts";
import { type Scheme, startDouble } from "./eventstoredb-double/double.ts";

const CHILD = fileURLToPath(new URL("../../contract/append-for-ever.eventstoredb.ts", import.meta.url));

export async function doubleFixture(scheme: Scheme): Promise<EventStoreFixture> {
  const double = await startDouble();
  const url = double.url(scheme);
  const store = await openEventStoreDb(url);
  return {
    store,
    prefix: `t${randomBytes(4).toString("hex")}-`,
    openAnother: () => openEventStoreDb(url),
    startAppending: (stream) =>
      spawn(process.execPath, [CHILD, url, stream], { stdio: ["ignore", "pipe", "inherit"] }),
    close: async () => {
      await store.close();
      await double.close();
    },
  };
}
