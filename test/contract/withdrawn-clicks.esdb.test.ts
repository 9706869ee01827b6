// Withdrawals on EventStoreDB's protocol, whose positions are no consecutive numbers.
import { doubleFixture } from "../support/event-store/double-fixture.ts";
import { openStores } from "../support/runtime/stores.ts";
import { withdrawnClicksContract } from "./withdrawn-clicks.ts";

withdrawnClicksContract("eventstoredb double", async () => {
  const { store: eventStore, close } = await doubleFixture("esdb");
  const embedded = await openStores();
  const cleanUp = async () => {
    await close?.();
    await embedded.close();
  };
  return { eventStore, readStore: embedded.readStore, cleanUp };
});
