// Sealing on EventStoreDB, whose positions are no consecutive numbers.
import { EVENTSTOREDB, ownEventStoreDb } from "../support/event-store/eventstoredb-fixture.ts";
import { onServerAtLength } from "../support/servers/test-servers.ts";
import { sealingContract } from "./sealing.ts";

onServerAtLength({ name: EVENTSTOREDB, reason: undefined }, () =>
  sealingContract(EVENTSTOREDB, ownEventStoreDb),
);
