// Sealing on EventStoreDB, whose positions are no consecutive numbers.

import { it } from "vitest";
import { EVENTSTOREDB, ownEventStoreDb } from "../support/event-store/eventstoredb-fixture.ts";
import { isLong } from "../support/runtime/effort.ts";
import { sealingContract } from "./sealing.ts";

if (isLong) sealingContract(EVENTSTOREDB, ownEventStoreDb);
else it.skip("sealing on EventStoreDB is part of the long form (TEST_LONG=1)", () => undefined);
