// The event feed as server-sent events: resumed by Last-Event-ID, ended with the key's validity.
import type { FastifyReply, FastifyRequest } from "fastify";
import { hashKey } from "../../commands/account/keys.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import type { EventType } from "../../events/catalogue.ts";
import { TIER_LIMITS } from "../../events/vocabulary.ts";
import type { LogReader } from "../../log-reader/log-reader.ts";
import type { FeedForm } from "../../queries/feed/feed-event.ts";
import type { KeyCaller } from "../../queries/find-caller.ts";
import type { Logger } from "../../runtime/logging.ts";
import type { EventStream } from "../streaming/event-stream.ts";
import { type LiveStreams, sendBatches } from "../streaming/live-streams.ts";

export type EventStreamDeps = {
  eventStore: Pick<EventStore, "head">;
  logReader: Pick<LogReader, "feed" | "followAccount">;
  findCaller: (keyHash: string) => Promise<KeyCaller | undefined>;
  sleep: (ms: number) => Promise<void>;
  log: Logger;
};

export type FeedSubscription = { after: Position | undefined; types: readonly EventType[]; form: FeedForm };

/** Between two batches, so that many events cost few writes. */
const BETWEEN_BATCHES_MS = 100;

/**
 * Sends until the client disconnects, the key is deactivated, the tier is lost, or too much of the log had to be read
 * for this connection: then the client reconnects, which counts as a request. @throws too_many_streams
 */
export async function sendEventStream(
  deps: EventStreamDeps,
  streams: LiveStreams,
  request: FastifyRequest,
  reply: FastifyReply,
  { after, types, form }: FeedSubscription,
): Promise<FastifyReply> {
  const { accountId } = request.caller;
  const sent = { position: after ?? "" };
  await streams.open(
    reply,
    accountId,
    (client, stream) => keepAlive(deps, request, client, sent, stream),
    async (client, signal) => {
      const batches = deps.logReader.followAccount(accountId, after, types, form, signal);
      await sendBatches(batches, async ({ events, position: end }) => {
        for (const { position, json } of events) {
          await client.send({ event: "message", id: position, data: json });
          sent.position = position;
        }
        sent.position = end;
        await deps.sleep(BETWEEN_BATCHES_MS);
      });
      // Reconnecting clients continue here, although no event of theirs may be at this position.
      client.offer(alive(sent.position));
    },
  );
  return reply;
}

/** Heartbeats carry the position, so that a reconnection after a quiet time has little to search. */
async function keepAlive(
  deps: EventStreamDeps,
  request: FastifyRequest,
  client: EventStream,
  sent: { position: Position },
  stream: AbortController,
): Promise<void> {
  const keyHash = hashKey(String(request.headers["x-api-key"]));
  // While a store is unavailable the key counts as valid.
  const caller = await deps.findCaller(keyHash).catch(() => request.caller);
  if (stream.signal.aborted) return;
  if (caller && TIER_LIMITS[caller.tier].developerFeatures) client.offer(alive(sent.position));
  else stream.abort();
}

function alive(position: Position) {
  return { event: "alive", id: position, data: { position } };
}
