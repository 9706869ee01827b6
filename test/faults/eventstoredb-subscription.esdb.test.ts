// Subscriptions of the event store under faults, through EventStoreDB's client: a process loads only one of the two.
import { subscriptionFaults } from "./eventstoredb-subscription.ts";

subscriptionFaults("esdb");
