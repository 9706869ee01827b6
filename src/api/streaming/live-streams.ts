// Server-sent events that go on as events happen, for the feed and the portal's live pages: with backpressure, a bounded
// number at a time; a client that stops reading is disconnected.
import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { Logger } from "../../runtime/logging.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Api } from "../fastify.ts";
import { accountStreams } from "./account-streams.ts";

/** Per account, in one process. */
const MOST_STREAMS = 10;
/** Per process. */
const MOST_STREAMS_IN_ALL = 500;
/** Interval of heartbeats, and of the check whether the client may still watch. */
const ALIVE_EVERY_MS = 5_000;
/** Before a client reconnects (the `retry:` field). */
const RETRY_MS = 2_000;
/** When the client reconnects it gets what it missed. */
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
      const client = eventStream(raw, headers, stream);
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

/** `id`: sent back as `Last-Event-ID` on reconnection; omitted when empty. `data`: text is JSON already. */
export type StreamMessage = { event: string; id: string; data: object | string };

export type EventStream = {
  /**
   * Resolves when the socket accepts more data.
   * @throws AbortError when the client has disconnected or was disconnected
   */
  send(message: StreamMessage): Promise<void>;
  /** Drops the message while the socket's buffer is full; for heartbeats. */
  offer(message: StreamMessage): void;
  end(): void;
};

/**
 * `stream`: aborted when the client disconnects, or has disconnected already. `stalledMs`: a client whose socket buffer does not
 * drain for so long is disconnected.
 */
export function eventStream(
  raw: ServerResponse,
  headers: OutgoingHttpHeaders,
  stream: AbortController,
  stalledMs = STALLED_MS,
): EventStream {
  // A client that disconnected while its request was being checked has emitted "close" already; HEAD gets no body.
  if (raw.destroyed || raw.req.method === "HEAD") stream.abort();
  raw.once("close", () => stream.abort());
  raw.writeHead(200, {
    ...headers,
    ...{ "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
  raw.write(`retry: ${RETRY_MS}\n\n`);
  const disconnectLater = () => setTimeout(() => raw.destroy(), stalledMs);
  return {
    async send(message) {
      raw.write(textOf(message));
      if (!raw.writableNeedDrain) return;
      const timer = disconnectLater();
      await once(raw, "drain", { signal: stream.signal }).finally(() => clearTimeout(timer));
    },
    offer(message) {
      if (!raw.writableNeedDrain) raw.write(textOf(message));
    },
    end() {
      const timer = disconnectLater();
      raw.once("close", () => clearTimeout(timer));
      raw.end();
    },
  };
}

function textOf({ event, id, data }: StreamMessage): string {
  const json = typeof data === "string" ? data : JSON.stringify(data);
  return `event: ${event}\n${id === "" ? "" : `id: ${id}\n`}data: ${json}\n\n`;
}
