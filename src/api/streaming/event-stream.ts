// Server-sent events to one browser, with backpressure; a browser that stops reading is disconnected.
import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

/** `id`: sent back as `Last-Event-ID` on reconnection; omitted when empty. `data`: text is JSON already. */
export type StreamMessage = { event: string; id: string; data: object | string };

export type EventStream = {
  /**
   * Resolves when the socket accepts more data.
   * @throws AbortError when the browser has disconnected or was disconnected
   */
  send(message: StreamMessage): Promise<void>;
  /** Drops the message while the socket's buffer is full; for heartbeats. */
  offer(message: StreamMessage): void;
  end(): void;
};

export type EventStreamOptions = {
  headers: OutgoingHttpHeaders;
  /** Aborted when the browser disconnects, or has disconnected already. */
  stream: AbortController;
  /** Delay before the browser reconnects (the `retry:` field). */
  retryMs: number;
  /** A browser whose socket buffer does not drain for this long is disconnected. */
  stalledMs: number;
};

export function eventStream(raw: ServerResponse, options: EventStreamOptions): EventStream {
  const { headers, stream, retryMs, stalledMs } = options;
  // A browser that disconnected while its request was being checked has emitted "close" already; HEAD gets no body.
  if (raw.destroyed || raw.req.method === "HEAD") stream.abort();
  raw.once("close", () => stream.abort());
  raw.writeHead(200, {
    ...headers,
    ...{ "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
  raw.write(`retry: ${retryMs}\n\n`);
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
