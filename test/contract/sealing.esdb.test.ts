// Sealing on EventStoreDB, whose positions are no consecutive numbers.
import { EVENTSTOREDB, ownEventStoreDb } from "../support/event-store/eventstoredb-fixture.ts";
import { sealingContract } from "./sealing.ts";

sealingContract(EVENTSTOREDB, ownEventStoreDb);
