// The properties of every event store, of the EventStoreDB adapter.
import { EVENTSTOREDB, eventStoreDbFixture } from "../support/event-store/eventstoredb-fixture.ts";
import { eventStoreProperties } from "./event-store.ts";

eventStoreProperties(EVENTSTOREDB, eventStoreDbFixture);
