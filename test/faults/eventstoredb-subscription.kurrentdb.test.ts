// Subscriptions of the event store under faults, through KurrentDB's client: a process loads only one of the two.
import { subscriptionFaults } from "./eventstoredb-subscription.ts";

subscriptionFaults("kurrentdb");
