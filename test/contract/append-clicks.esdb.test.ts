import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import { startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import { appendClicksContract } from "./append-clicks.ts";

appendClicksContract("EventStoreDB", async () => {
  const double = await startDouble();
  const store = await openEventStoreDb(double.connectionString);
  return {
    store,
    async close() {
      await store.close();
      await double.close();
    },
  };
});
