// Server-sent events of the feed, with backpressure: a client that stops reading is disconnected.
import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { Refused } from "../../commands/refusals.ts";
import { type OpenStreamsDeps, openStreams } from "../../limits/open-streams.ts";
import type { Logger } from "../../runtime/logging.ts";
import type { Api } from "../fastify.ts";

/** Of an account at a time. */
export const MOST_STREAMS = 10;
const MOST = { ofAccount: MOST_STREAMS, inProcess: 500 };
/** Interval of heartbeats, and of the check whether the client may still watch. */
const ALIVE_EVERY_MS = 5_000;
/** Before a client reconnects (the `retry:` field). */
const RETRY_MS = 2_000;
/** When the client reconnects it gets what it missed. */
const STALLED_MS = 15_000;

export type LiveStreams = ReturnType<typeof liveStreams>;

/** All of them end before the app closes. */
export function liveStreams(
  app: Api,
  { log, ...shared }: Omit<OpenStreamsDeps, "kind"> & { log: Logger; kind?: string },
) {
  const streams = openStreams({ kind: "streams", ...shared }, MOST);
  app.addHook("preClose", async () => streams.close());
  const checks = new Map<AbortController, { accountId: string; check: () => void }>();
  return {
    /** Asks at once whether the clients of the account may still watch. */
    check(accountId: string): void {
      for (const open of checks.values()) if (open.accountId === accountId) open.check();
    },

    /**
     * Resolves when the client has disconnected or `send` has ended. `send`: until the signal aborts. `keepAlive`: called
     * every five seconds, and by `check`; aborts the stream when the client may no longer watch. @throws too_many_streams
     */
    async open(
      reply: FastifyReply,
      accountId: string,
      keepAlive: (client: EventStream, stream: AbortController) => Promise<void>,
      send: (client: EventStream, signal: AbortSignal) => Promise<void>,
    ): Promise<void> {
      const stream = await streams.enter(accountId);
      if (!stream)
        throw new Refused(
          "too_many_streams",
          "Too many event streams are open: close one first, or try again later.",
        );
      const { raw } = reply.hijack();
      const client = eventStream(raw, reply.getHeaders() as OutgoingHttpHeaders, stream);
      const check = () => void keepAlive(client, stream);
      checks.set(stream, { accountId, check });
      const timer = setInterval(check, ALIVE_EVERY_MS);
      try {
        await send(client, stream.signal);
      } catch (err) {
        if (!stream.signal.aborted)
          log.warn({ err }, "an event stream was interrupted; its client reconnects");
      } finally {
        clearInterval(timer);
        checks.delete(stream);
        await streams.leave(stream);
        client.end();
      }
    },
  };
}

/** `id`: sent back as `Last-Event-ID` on reconnection; omitted when empty. `data`: text is JSON already. */
type StreamMessage = { event: string; id: string; data: object | string };

export type EventStream = ReturnType<typeof eventStream>;

/**
 * `stream`: aborted when the client disconnects, or has disconnected already. `stalledMs`: a client whose socket
 * buffer does not drain for so long is disconnected.
 */
export function eventStream(
  raw: ServerResponse,
  headers: OutgoingHttpHeaders,
  stream: AbortController,
  stalledMs = STALLED_MS,
) {
  // A client that disconnected while its request was being checked has emitted "close" already; HEAD gets no body.
  if (raw.destroyed || raw.req.method === "HEAD") stream.abort();
  raw.once("close", () => stream.abort());
  raw.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  raw.write(`retry: ${RETRY_MS}\n\n`);
  const disconnectLater = () => setTimeout(() => raw.destroy(), stalledMs);
  return {
    /** Resolves when the socket accepts more data. @throws AbortError when the client has disconnected, or was */
    async send(message: StreamMessage): Promise<void> {
      raw.write(textOf(message));
      if (!raw.writableNeedDrain) return;
      const timer = disconnectLater();
      await once(raw, "drain", { signal: stream.signal }).finally(() => clearTimeout(timer));
    },
    /** Drops the message while the socket's buffer is full; for heartbeats. */
    offer(message: StreamMessage): void {
      if (!raw.writableNeedDrain) raw.write(textOf(message));
    },
    end(): void {
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
