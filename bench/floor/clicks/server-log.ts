// The log of the bare recorder on EventStoreDB: one event a click, through the official client and nothing else.
import { randomUUID } from "node:crypto";
import { jsonEvent, NO_STREAM, streamNameFilter } from "@eventstore/db-client";
import { Servers } from "../../../src/event-store/eventstoredb/connection.ts";
import type { ServerLog } from "../../setup/servers.ts";
import type { BareClick, NewClicks } from "./bare-log.ts";

const MAX_EVENTS = 500;
const TIMEOUT_MS = 10_000;
/** Clicks that wait in memory for the counting thread, which takes them ten times a second. */
const BUFFER = 20_000;

export async function openServerLog({ url, prefix }: ServerLog) {
  const { current: client, credentials } = new Servers(url);
  const stream = `${prefix}clicks`;
  let expectedRevision: typeof NO_STREAM | bigint = NO_STREAM;
  return {
    async append(clicks: readonly BareClick[]): Promise<void> {
      for (let from = 0; from < clicks.length; from += MAX_EVENTS) {
        const events = clicks
          .slice(from, from + MAX_EVENTS)
          .map((data) => jsonEvent({ id: randomUUID(), type: "LinkClicked", data, metadata: {} }));
        const options = { expectedRevision, credentials, requiresLeader: true, deadline: TIMEOUT_MS };
        const appended = await client.appendToStream(stream, events, options);
        expectedRevision = appended.nextExpectedRevision;
      }
    },
    /** The function that is returned gives what has come since its last call. */
    follow(): () => NewClicks {
      const filter = streamNameFilter({ prefixes: [stream] });
      const subscription = client.subscribeToAll({ filter }, { highWaterMark: BUFFER });
      const clicks: BareClick[] = [];
      subscription.on("data", ({ event }) => void clicks.push(event?.data as BareClick));
      return () => ({ clicks: clicks.splice(0), mayBeMore: false });
    },
  };
}
