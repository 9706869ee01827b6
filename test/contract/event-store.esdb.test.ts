// The event store contract on the EventStoreDB adapter with EventStoreDB's client, over the wire to the double.
import { doubleFixture } from "../support/event-store/double-fixture.ts";
import { eventStoreContract } from "./event-store.ts";

eventStoreContract("EventStoreDB's client, by the double", () => doubleFixture("esdb"));
