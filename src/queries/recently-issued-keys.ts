// A key works the moment it is shown, also at another node and however late the documents are: from the log itself.
import { LRUCache } from "lru-cache";
import { loadAccount } from "../commands/account-stream.ts";
import type { EventStore, Position, RecordedEvent } from "../event-store/port.ts";
import { onDemandReader } from "../event-store/read-on.ts";
import { EventUnreadable, readEvent } from "../events/read-event.ts";
import { PREFIX } from "../events/streams.ts";
import { accounts } from "../projections/accounts.ts";
import { checkpointName } from "../projections/checkpoint-name.ts";
import { keys } from "../projections/keys.ts";
import type { ReadStore } from "../read-store/port.ts";
import { findCaller, type KeyCaller } from "./find-caller.ts";

type Deps = { eventStore: EventStore; readStore: ReadStore };

/** More than are issued while documents are being rebuilt. */
const MOST_KEYS = 10_000;

/**
 * Finds callers that `findCaller` doesn't know yet: reads on in the accounts' streams from where the documents were
 * when it was first asked. What it finds is answered from the account's own stream: a deactivated key is unknown.
 */
export function recentlyIssuedKeys({ eventStore, readStore }: Deps) {
  const accountOf = new LRUCache<string, { accountId: string; keyId: string }>({ max: MOST_KEYS });
  const see = (events: readonly RecordedEvent[]) => {
    for (const issued of events.map(keyIssued)) if (issued) accountOf.set(issued.keyHash, issued);
  };
  const readOn = onDemandReader(eventStore, [PREFIX.account], () => foldedTo(readStore), see);

  /** `keyHash`: SHA-256 of the whole key, hex. */
  return async (keyHash: string): Promise<KeyCaller | undefined> => {
    await readOn();
    const found = accountOf.get(keyHash);
    // What is not behind the documents as they were at first is in them now.
    if (!found) return await findCaller({ readStore }, keyHash);
    const { accountId, keyId } = found;
    const account = await loadAccount(eventStore, accountId);
    if (account.status !== "open" || account.keys.get(keyId) !== "active") return undefined;
    return { accountId, tier: account.tier, via: "api", keyId };
  };
}

/** Undefined also for what a newer program has written: its own projector makes the document. */
function keyIssued(recorded: RecordedEvent) {
  if (recorded.type !== "KeyIssued") return undefined;
  try {
    const event = readEvent(recorded);
    if (event?.type !== "KeyIssued") return undefined;
    const { keyHash, accountId, keyId } = event.data;
    return { keyHash, accountId, keyId };
  } catch (error) {
    if (error instanceof EventUnreadable) return undefined;
    throw error;
  }
}

/** `findCaller` needs the documents of both. */
async function foldedTo(readStore: ReadStore): Promise<Position | undefined> {
  const found = await Promise.all([keys, accounts].map((one) => readStore.checkpoint(checkpointName(one))));
  const [least] = found.map((checkpoint) => checkpoint?.position ?? "").sort();
  return least || undefined;
}
