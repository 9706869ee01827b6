// Keeps a stream of events open for a client that may watch it, from a position on which it goes on when it reconnects.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { hashKey } from "../../commands/account/change-keys.ts";
import { may, RIGHT_OF_SCOPE, type Right } from "../../commands/people/rights.ts";
import { Refused } from "../../commands/refusals.ts";
import { hasDeveloperFeatures } from "../../events/vocabulary.ts";
import type { KeyCaller } from "../../queries/find-caller.ts";
import type { FeedBatch, LogReader } from "../../queries/log-reader/log-reader.ts";
import type { Logger } from "../../runtime/logging.ts";
import type { Counts } from "../../stores/counts/counts.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import { isExpired, sentKey } from "../key-guard.ts";
import type { EventStream, LiveStreams } from "./streams.ts";

export type EventsDeps = {
  eventStore: Pick<EventStore, "head">;
  logReader: Pick<LogReader, "feed" | "followAccount">;
  findCaller: (keyHash: string) => Promise<KeyCaller | undefined>;
  /** `listener`: called when keys of an account may do more or less than before. */
  onCallersChanged: (listener: (accountId: string) => void) => void;
  sleep: (ms: number) => Promise<void>;
  counts: Counts;
  clock: () => Date;
  log: Logger;
};

export const Position = z
  .string()
  .regex(/^[\w:.-]{1,100}$/, "must be a position, as an earlier answer gave it");

/** A member of a query: names with commas, none where it is absent. `message`: where one is not known. */
export function listOf<const N extends readonly string[]>(names: N, message: string) {
  return z
    .string()
    .transform((text) => text.split(",").filter((name) => name !== ""))
    .pipe(z.array(z.enum(names, message)))
    .default([]);
}

/** Between two batches of a stream, so that many events cost few writes. */
const BETWEEN_BATCHES_MS = 100;

/**
 * Sends until the client disconnects, the key is deactivated or expires, the tier is lost, or too much of the log had to be read
 * for this connection: then the client reconnects, which counts as a request. `position`: where the client is. `right`: that
 * whoever the key is bounded by needs all the while.
 * @throws too_many_streams, not_permitted
 */
export async function sendStream(
  deps: EventsDeps,
  streams: LiveStreams,
  request: FastifyRequest,
  reply: FastifyReply,
  position: string,
  follow: (signal: AbortSignal) => AsyncGenerator<FeedBatch>,
  right: Right = RIGHT_OF_SCOPE["events:read"],
): Promise<void> {
  if (!may((request.caller as KeyCaller).role, right)) throw new Refused("not_permitted");
  let sent = position;
  // Carries the position, so that a reconnection after a quiet time has little to search.
  const heartbeat = (client: EventStream) =>
    client.offer({ event: "alive", id: sent, data: { position: sent } });
  const keepAlive = async (client: EventStream, stream: AbortController) => {
    const keyHash = hashKey(String(sentKey(request)));
    // While a store is unavailable the key counts as valid.
    const caller = await deps.findCaller(keyHash).catch(() => request.caller as KeyCaller);
    if (stream.signal.aborted) return;
    const mayWatch = caller && may(caller.role, right);
    if (mayWatch && !isExpired(caller, deps.clock()) && hasDeveloperFeatures(caller.tier)) heartbeat(client);
    else stream.abort();
  };
  await streams.open(reply, request.caller.accountId, keepAlive, async (client, signal) => {
    // Whoever is cut off before the first event goes on from here, also where a stream begins at what was the end of the log.
    heartbeat(client);
    for await (const batch of follow(signal)) {
      for (const event of batch.events) {
        await client.send({ event: "message", id: event.position, data: event.json });
        sent = event.position;
      }
      sent = batch.position;
      await deps.sleep(BETWEEN_BATCHES_MS);
    }
    // Reconnecting clients continue here, although no event of theirs may be at this position.
    heartbeat(client);
  });
}
