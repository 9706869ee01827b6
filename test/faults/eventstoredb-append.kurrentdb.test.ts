// Appends of the event store under faults, through KurrentDB's client: a process loads only one of the two.
import { appendFaults } from "./eventstoredb-append.ts";

appendFaults("kurrentdb");
