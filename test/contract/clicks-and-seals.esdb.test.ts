// Appends of clicks and of seals on EventStoreDB, whose positions are no consecutive numbers.
import { describe } from "vitest";
import { EVENTSTOREDB, ownEventStoreDb } from "../support/event-store/eventstoredb-fixture.ts";
import { isLong } from "../support/runtime/effort.ts";
import { appendClicksContract } from "./append-clicks.ts";
import { sealingContract } from "./sealing.ts";

appendClicksContract(EVENTSTOREDB, ownEventStoreDb);
describe.skipIf(!isLong)("at length", () => sealingContract(EVENTSTOREDB, ownEventStoreDb));
