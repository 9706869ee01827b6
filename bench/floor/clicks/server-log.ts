// The log of the bare recorder on EventStoreDB: one event a click, by our own driver, whose protobuf takes less time than the
// client's own messages.
import { randomUUID } from "node:crypto";
import { openDriver } from "../../../src/event-store/eventstoredb/open-driver.ts";
import { proposedMessage } from "../../../src/event-store/eventstoredb/protocol/append-messages.ts";
import type { ExpectedRevision } from "../../../src/event-store/port.ts";
import type { ServerLog } from "../../setup/servers.ts";
import type { BareClick, NewClicks } from "./bare-log.ts";

const CLICK = { type: "LinkClicked", metadata: "{}" };
const MAX_EVENTS = 500;
const TIMEOUT_MS = 10_000;
/** Clicks that wait in memory for the counting thread, which takes them ten times a second. */
const BUFFER = 20_000;

export async function openServerLog({ url, prefix }: ServerLog) {
  const driver = await openDriver(url);
  const stream = `${prefix}clicks`;
  let expected: ExpectedRevision = "none";
  return {
    async append(clicks: readonly BareClick[]): Promise<void> {
      for (let from = 0; from < clicks.length; from += MAX_EVENTS) {
        const events = clicks.slice(from, from + MAX_EVENTS).map(proposed);
        ({ revision: expected } = await driver.append({ stream, expected, events, timeoutMs: TIMEOUT_MS }));
      }
    },
    /** The function that is returned gives what has come since its last call. */
    follow(): () => NewClicks {
      const pull = driver.subscribeAll({ after: undefined, categories: [stream], buffer: BUFFER });
      return () => {
        const clicks: BareClick[] = [];
        for (let event = pull.buffered(); event; event = pull.buffered())
          clicks.push(event.data as BareClick);
        return { clicks, mayBeMore: false };
      };
    },
  };
}

function proposed(click: BareClick): { id: string; message: Uint8Array } {
  const id = randomUUID();
  return { id, message: proposedMessage({ ...CLICK, id, data: JSON.stringify(click) }) };
}
