// Withdrawals on EventStoreDB, whose positions are no consecutive numbers.
import { EVENTSTOREDB, ownEventStoreDb } from "../support/event-store/eventstoredb-fixture.ts";
import { openStores } from "../support/runtime/stores.ts";
import { withdrawnClicksContract } from "./withdrawn-clicks.ts";

withdrawnClicksContract(EVENTSTOREDB, async () => {
  const { store: eventStore, close } = await ownEventStoreDb();
  const embedded = await openStores();
  const cleanUp = async () => {
    await close();
    await embedded.close();
  };
  return { eventStore, readStore: embedded.readStore, cleanUp };
});
