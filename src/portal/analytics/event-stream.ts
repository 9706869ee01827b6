// Server-sent events to one browser: never more waiting for it than it left unread, and cut off when it stops reading.
import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

/** `id`: what the browser comes back with (`Last-Event-ID`); none when empty. */
export type StreamMessage = { event: string; id: string; data: object };

export type EventStream = {
  /** Resolves when there is room for another one. @throws AbortError when the browser is gone, also by being cut off */
  send(message: StreamMessage): Promise<void>;
  /** Leaves the message out when the browser has not read what was sent before: for what only says that all is well. */
  offer(message: StreamMessage): void;
  end(): void;
};

export type EventStreamOptions = {
  headers: OutgoingHttpHeaders;
  /** Aborts when the browser is gone. */
  signal: AbortSignal;
  /** How soon the browser comes back after the stream has ended. */
  retryMs: number;
  /** A browser that hasn't read what was sent for so long is cut off. */
  stalledMs: number;
};

export function eventStream(raw: ServerResponse, options: EventStreamOptions): EventStream {
  const { headers, signal, retryMs, stalledMs } = options;
  raw.writeHead(200, {
    ...headers,
    ...{ "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
  raw.write(`retry: ${retryMs}\n\n`);
  const cutOffLater = () => setTimeout(() => raw.destroy(), stalledMs);
  return {
    async send(message) {
      raw.write(textOf(message));
      if (!raw.writableNeedDrain) return;
      const timer = cutOffLater();
      await once(raw, "drain", { signal }).finally(() => clearTimeout(timer));
    },
    offer(message) {
      if (!raw.writableNeedDrain) raw.write(textOf(message));
    },
    end() {
      const timer = cutOffLater();
      raw.once("close", () => clearTimeout(timer));
      raw.end();
    },
  };
}

function textOf({ event, id, data }: StreamMessage): string {
  return `event: ${event}\n${id === "" ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
