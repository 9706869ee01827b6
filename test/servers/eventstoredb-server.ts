// The real EventStoreDB of EVENTSTORE_URL: streams of a prefix nobody else uses, deleted afterwards.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { openEventStoreDb } from "../../src/event-store/eventstoredb.ts";
import { connect } from "../../src/event-store/eventstoredb-client.ts";
import type { EventStoreFixture } from "../contract/event-store-fixture.ts";
import type { Server } from "../support/test-servers.ts";

const CHILD = fileURLToPath(new URL("../contract/append-for-ever.eventstoredb.ts", import.meta.url));

export const eventStoreUrl = process.env.EVENTSTORE_URL;

export const eventStoreDb: Server = {
  name: "EventStoreDB",
  reason: eventStoreUrl ? undefined : "set EVENTSTORE_URL, such as esdb://127.0.0.1:2113?tls=false",
  installable: false,
};

/** One word, so that also the suite's streams without its dash start with it. */
export function newPrefix(): string {
  return `t${randomBytes(4).toString("hex")}-`;
}

export async function eventStoreDbFixture(): Promise<EventStoreFixture> {
  const url = eventStoreUrl ?? "";
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
      await deleteStreams(url, prefix);
    },
  };
}

/** A soft delete: the server drops the events when it next scavenges. */
export async function deleteStreams(url: string, prefix: string): Promise<void> {
  const store = await openEventStoreDb(url);
  const client = connect(url);
  try {
    const prefixes = [prefix.replace("-", "")];
    const events = await store.readAll({ prefixes, limit: Number.MAX_SAFE_INTEGER - 1 });
    const live = new Set(events.map(({ stream }) => stream));
    for (const stream of live) await client.deleteStream(stream);
  } finally {
    await client.dispose();
    await store.close();
  }
}
