// Appends of the event store under faults, through EventStoreDB's client: a process loads only one of the two.
import { appendFaults } from "./eventstoredb-append.ts";

appendFaults("esdb");
