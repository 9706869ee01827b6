// The event store contract on the EventStoreDB adapter with KurrentDB's client, over the wire to the double.
import { doubleFixture } from "../support/event-store/double-fixture.ts";
import { eventStoreContract } from "./event-store.ts";

eventStoreContract("KurrentDB's client, by the double", () => doubleFixture("kurrentdb"));
