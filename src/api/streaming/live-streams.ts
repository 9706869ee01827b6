// Streams of server-sent events that go on as events happen, for the feed and the portal's live pages.
import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";
import type { Logger } from "../../runtime/logging.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Api } from "../fastify.ts";
import { accountStreams } from "./account-streams.ts";
import { type EventStream, eventStream } from "./event-stream.ts";

/** Per account, in one process. */
const MOST_STREAMS = 10;
/** Per process. */
const MOST_STREAMS_IN_ALL = 500;
/** Interval of heartbeats, and of the check whether the client may still watch. */
const ALIVE_EVERY_MS = 5_000;
const RETRY_MS = 2_000;
/** A client that reads nothing for this long is disconnected; when it reconnects it gets what it missed. */
const STALLED_MS = 15_000;

export type LiveStreams = {
  /**
   * Resolves when the client has disconnected or `send` has ended. `send`: until the signal aborts. `keepAlive`: called
   * every five seconds; aborts the stream when the client may no longer watch. @throws too_many_streams
   */
  open(
    reply: FastifyReply,
    accountId: string,
    keepAlive: (client: EventStream, stream: AbortController) => Promise<void>,
    send: (client: EventStream, signal: AbortSignal) => Promise<void>,
  ): Promise<void>;
};

/** All of them end before the app closes. `tooMany`: what a client is told that opens one more than it may. */
export function liveStreams(app: Api, log: Logger, tooMany: string): LiveStreams {
  const streams = accountStreams(MOST_STREAMS, MOST_STREAMS_IN_ALL);
  app.addHook("preClose", async () => streams.close());
  return {
    async open(reply, accountId, keepAlive, send) {
      const stream = streams.enter(accountId);
      if (!stream) throw new Refused("too_many_streams", tooMany);
      const { raw } = reply.hijack();
      const headers = reply.getHeaders() as OutgoingHttpHeaders;
      const client = eventStream(raw, { headers, stream, retryMs: RETRY_MS, stalledMs: STALLED_MS });
      const timer = setInterval(() => void keepAlive(client, stream), ALIVE_EVERY_MS);
      try {
        await send(client, stream.signal);
      } catch (err) {
        if (!stream.signal.aborted)
          log.warn({ err }, "an event stream was interrupted; its client reconnects");
      } finally {
        clearInterval(timer);
        streams.leave(accountId, stream);
        client.end();
      }
    },
  };
}

/** Sends batch after batch, and ends their generator when one can't be sent. Returns what the generator returns. */
export async function sendBatches<B, R>(
  batches: AsyncGenerator<B, R>,
  send: (batch: B) => Promise<void>,
): Promise<R> {
  let next = await batches.next();
  try {
    for (; !next.done; next = await batches.next()) await send(next.value);
    return next.value;
  } finally {
    await batches.return(undefined as R);
  }
}
