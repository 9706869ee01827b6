// The event feed as server-sent events: resumed by Last-Event-ID, ended with the key's validity.
import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { hashKey } from "../../commands/keys/issue-key.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import type { EventType } from "../../events/catalogue.ts";
import { TIER_LIMITS } from "../../events/vocabulary.ts";
import type { LogReader } from "../../log-reader/log-reader.ts";
import type { FeedForm } from "../../queries/feed/feed-event.ts";
import type { KeyCaller } from "../../queries/find-caller.ts";
import type { Logger } from "../../runtime/logging.ts";
import { type AccountStreams, TooManyStreams } from "../streaming/account-streams.ts";
import { type EventStream, eventStream } from "../streaming/event-stream.ts";

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
/** Interval of the key's check and the heartbeat. */
const ALIVE_EVERY_MS = 5_000;
const RETRY_MS = 2_000;
/** A client that reads nothing for this long is disconnected; when it reconnects it gets what it missed. */
const STALLED_MS = 15_000;

/**
 * Sends until the client disconnects, the key is deactivated, the tier is lost, or too much of the log had to be read
 * for this connection: then the client reconnects, which counts as a request. @throws TooManyStreams
 */
export async function sendEventStream(
  deps: EventStreamDeps,
  streams: AccountStreams,
  request: FastifyRequest,
  reply: FastifyReply,
  { after, types, form }: FeedSubscription,
): Promise<FastifyReply> {
  const { accountId } = request.caller;
  const stream = streams.enter(accountId);
  if (!stream)
    throw new TooManyStreams("Too many event streams are open: close one first, or try again later.");
  const { raw } = reply.hijack();
  const { signal } = stream;
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  const client = eventStream(raw, { headers, stream, retryMs: RETRY_MS, stalledMs: STALLED_MS });
  const sent = { position: after ?? "" };
  const timer = setInterval(() => void keepAlive(deps, request, client, sent, stream), ALIVE_EVERY_MS);
  try {
    const batches = deps.logReader.followAccount(accountId, after, types, form, signal);
    for (;;) {
      const { done, value } = await batches.next();
      if (done) break;
      for (const { position, json } of value.events) {
        await client.send({ event: "message", id: position, data: json });
        sent.position = position;
      }
      sent.position = value.position;
      await deps.sleep(BETWEEN_BATCHES_MS);
    }
    // Reconnecting clients continue here, although no event of theirs may be at this position.
    client.offer(alive(sent.position));
  } catch (err) {
    if (!signal.aborted) deps.log.warn({ err }, "an event stream was interrupted; its client reconnects");
  } finally {
    clearInterval(timer);
    streams.leave(accountId, stream);
    client.end();
  }
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
