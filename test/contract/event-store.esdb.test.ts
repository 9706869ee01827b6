// The event store contract on the EventStoreDB adapter, and what that alone promises.
import { EVENTSTOREDB, eventStoreDbFixture } from "../support/event-store/eventstoredb-fixture.ts";
import { eventStoreContract } from "./event-store.ts";
import { eventStoreDbPromises } from "./eventstoredb.ts";

eventStoreContract(EVENTSTOREDB, eventStoreDbFixture);
eventStoreDbPromises(EVENTSTOREDB, eventStoreDbFixture);
