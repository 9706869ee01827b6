// The real EventStoreDB or KurrentDB of EVENTSTORE_URL: streams of a prefix nobody else uses, deleted afterwards.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { EventStoreDBClient, streamNameFilter } from "@eventstore/db-client";
import { openEventStoreDb } from "../../../src/stores/event-store/eventstoredb/event-store.ts";
import type { EventStoreDbFixture } from "../event-store/eventstoredb-fixture.ts";
import type { Server } from "./test-servers.ts";

const CHILD = fileURLToPath(new URL("../event-store/append-for-ever.ts", import.meta.url));

const AT_ONCE = 16;

export const eventStoreUrl = process.env.EVENTSTORE_URL;

export const eventStoreDb: Server = {
  name: "EventStoreDB or KurrentDB",
  reason: eventStoreUrl ? undefined : "set EVENTSTORE_URL, such as esdb://127.0.0.1:2113?tls=false",
  installable: false,
};

/** The start of categories. */
export function newPrefix(): string {
  return `t${randomBytes(4).toString("hex")}`;
}

/** What the adapter brings to the event store contract. `cleanUp`: after the store is closed. */
export async function fixtureOn(
  url: string,
  cleanUp: (prefix: string) => Promise<void>,
): Promise<EventStoreDbFixture> {
  const store = await openEventStoreDb(url);
  const prefix = newPrefix();
  return {
    url,
    store,
    prefix,
    openAnother: () => openEventStoreDb(url),
    startAppending: (stream) =>
      spawn(process.execPath, [CHILD, stream, url], { stdio: ["ignore", "pipe", "inherit"] }),
    close: async () => {
      await store.close();
      await cleanUp(prefix);
    },
  };
}

/** The official client, for what the adapter doesn't do. */
export function officialClient(url: string): EventStoreDBClient {
  return EventStoreDBClient.connectionString(url.replace(/^kurrentdb/, "esdb"));
}

/** A soft delete, as far as it goes: the server drops the events when it next scavenges. */
export async function deleteStreams(url: string, prefix: string): Promise<void> {
  const client = officialClient(url);
  const filter = streamNameFilter({ prefixes: [prefix], maxSearchWindow: 1_000 });
  const events = client.subscribeToAll({ filter, requiresLeader: true }, { highWaterMark: 1_000 });
  const streams = new Set<string>();
  events.on("data", ({ event }) => void streams.add(event?.streamId ?? ""));
  await new Promise<void>((resolve, reject) => {
    events.on("caughtUp", resolve);
    events.on("error", reject);
  });
  // What came before is still being handed out.
  await nextTurn();
  await events.unsubscribe();
  const names = [...streams];
  for (let start = 0; start < names.length; start += AT_ONCE)
    await Promise.allSettled(names.slice(start, start + AT_ONCE).map((name) => client.deleteStream(name)));
  await client.dispose();
}
