// What the EventStoreDB adapter brings to the event store contract when the server is the double.
import type { EventStoreFixture } from "../../contract/event-store-fixture.ts";
import { fixtureOn } from "../servers/eventstoredb-server.ts";
import { type Scheme, startDouble } from "./eventstoredb-double/double.ts";

export async function doubleFixture(scheme: Scheme): Promise<EventStoreFixture> {
  const double = await startDouble();
  return await fixtureOn(double.url(scheme), () => double.close());
}
