// The event store's cluster under faults, through EventStoreDB's client: a process loads only one of the two.
import { clusterFaults } from "./eventstoredb-cluster.ts";

clusterFaults("esdb");
