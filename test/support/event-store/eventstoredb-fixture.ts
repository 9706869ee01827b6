// What the EventStoreDB adapter brings to the suites of event stores: the server of EVENTSTORE_URL, else the double.
import { prefixedEventStore } from "../../../src/stores/event-store/prefixed-event-store.ts";
import type { EventStoreFixture } from "../../contract/event-store-fixture.ts";
import { deleteStreams, eventStoreUrl, fixtureOn } from "../servers/eventstoredb-server.ts";
import { startDouble } from "./eventstoredb-double/double.ts";

/** Where the suites run, for their names. */
export const EVENTSTOREDB = eventStoreUrl ? "EventStoreDB" : "EventStoreDB, by the double";

export type EventStoreDbFixture = EventStoreFixture & { url: string };

export async function eventStoreDbFixture(): Promise<EventStoreDbFixture> {
  const url = eventStoreUrl;
  if (url) return await fixtureOn(url, (prefix) => deleteStreams(url, prefix));
  const double = await startDouble();
  return await fixtureOn(double.connectionString, () => double.close());
}

/** For suites whose streams have names of their own: alone on the server, as a service with a prefix is. */
export async function ownEventStoreDb(): Promise<EventStoreDbFixture> {
  const fixture = await eventStoreDbFixture();
  return { ...fixture, store: prefixedEventStore(fixture.store, `${fixture.prefix}_`) };
}
