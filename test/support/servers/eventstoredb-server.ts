// The real KurrentDB or EventStoreDB of EVENTSTORE_URL: streams of a prefix nobody else uses, deleted afterwards.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { openEventStoreDb } from "../../../src/event-store/eventstoredb/event-store.ts";
import { logPages } from "../../../src/event-store/log-pages.ts";
import type { EventStore } from "../../../src/event-store/port.ts";
import type { EventStoreFixture } from "../../contract/event-store-fixture.ts";
import { sampleEvent } from "../event-store/sample-events.ts";
import type { Server } from "./test-servers.ts";

const CHILD = fileURLToPath(new URL("../../contract/append-for-ever.eventstoredb.ts", import.meta.url));

const PAGE = 5_000;
const AT_ONCE = 16;

export const eventStoreUrl = process.env.EVENTSTORE_URL;

export const eventStoreDb: Server = {
  name: "KurrentDB or EventStoreDB",
  reason: eventStoreUrl ? undefined : "set EVENTSTORE_URL, such as kurrentdb://127.0.0.1:2113?tls=false",
  installable: false,
};

/** One word, so that also the suite's streams without its dash start with it. */
export function newPrefix(): string {
  return `t${randomBytes(4).toString("hex")}-`;
}

export async function eventStoreDbFixture(): Promise<EventStoreFixture> {
  const url = eventStoreUrl ?? "";
  return await fixtureOn(url, (prefix) => deleteStreams(url, prefix));
}

/** What the adapter brings to the event store contract. `cleanUp`: after the store is closed. */
export async function fixtureOn(
  url: string,
  cleanUp: (prefix: string) => Promise<void>,
): Promise<EventStoreFixture> {
  const store = await openEventStoreDb(url);
  const prefix = newPrefix();
  return {
    store,
    prefix,
    openAnother: () => openEventStoreDb(url),
    startAppending: (stream) =>
      spawn(process.execPath, [CHILD, url, stream], { stdio: ["ignore", "pipe", "inherit"] }),
    close: async () => {
      await store.close();
      await cleanUp(prefix);
    },
  };
}

/** As a soft delete does: the stream's metadata hides all its events, and the server drops them when it next scavenges. */
export async function deleteStreams(url: string, prefix: string): Promise<void> {
  const store = await openEventStoreDb(url);
  try {
    const categories = [prefix.replace("-", "")];
    const streams = new Set<string>();
    for await (const page of logPages(store, { categories, limit: PAGE }))
      for (const { stream } of page) streams.add(stream);
    const names = [...streams];
    for (let start = 0; start < names.length; start += AT_ONCE)
      await Promise.all(names.slice(start, start + AT_ONCE).map((name) => truncate(store, name)));
  } finally {
    await store.close();
  }
}

async function truncate(store: EventStore, stream: string): Promise<void> {
  const everything = { $tb: Number.MAX_SAFE_INTEGER };
  await store.append(`$$${stream}`, "any", [sampleEvent(everything, "$metadata")]);
}
