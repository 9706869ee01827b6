// Sealing on EventStoreDB's protocol, whose positions are no consecutive numbers.
import { doubleFixture } from "../support/event-store/double-fixture.ts";
import { sealingContract } from "./sealing.ts";

sealingContract("eventstoredb double", () => doubleFixture("esdb"));
