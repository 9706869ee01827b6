// A client that stops reading a stream costs bounded memory for a bounded time, and loses no event.
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { eventStream } from "../../src/api/events/streams.ts";
import { untilStalled } from "../../src/limits/exports.ts";
import { linkOf } from "../../src/queries/audit/clicks-in-log.ts";
import { type LiveEvents, liveEvents } from "../../src/queries/feed/live-events.ts";
import { START } from "../../src/stores/event-store/port.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";

const LINK = "sho.rt/abc";
/** More than the kernel's socket buffers hold. */
const MOST_CLICKS = 2_000;
const THOUSANDS = 5_000;
const STALLED_MS = 2_000;
/** Each message has ten of these, so that the kernel's socket buffers fill quickly. */
const LONG = "a".repeat(20_000);

describe("a live feed that is not read while thousands of clicks come", () => {
  let stores: Stores;
  let live: LiveEvents;
  let server: Server;
  let responses: ServerResponse[];
  let sent: { position: string };
  let ended: PromiseWithResolvers<void>;

  beforeEach(async () => {
    stores = await openStores();
    const sleep = async (ms: number) => void (await delay(ms));
    const log = { warn: () => undefined };
    live = liveEvents({ eventStore: stores.eventStore, sleep, log }, linkOf);
    responses = [];
    ended = Promise.withResolvers();
    // The route without its check of the key, so that only the stream is tested.
    server = createServer((request, raw) => {
      responses.push(raw);
      const stream = new AbortController();
      const { signal } = stream;
      const browser = eventStream(raw, {}, stream, STALLED_MS);
      const after = String(request.headers["last-event-id"] ?? START);
      sent = { position: after };
      const send = async () => {
        for await (const { events } of followed(after, signal)) {
          for (const { position, data } of events) {
            await browser.send({ event: "message", id: position, data: data as object });
            sent = { position };
          }
          await turn();
        }
      };
      send()
        .catch(() => undefined)
        .finally(() => browser.end());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    await stores.close();
  });

  async function* followed(after: string, signal: AbortSignal) {
    try {
      return yield* live.follow(LINK, after, signal);
    } finally {
      ended.resolve();
    }
  }

  /** Does not read the answer yet. */
  async function open(lastId: string): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const headers = lastId === "" ? {} : { "last-event-id": lastId };
    const request = get({ host: "127.0.0.1", port, headers, agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return response;
  }

  it("is cut off with little data buffered, is no longer followed, and gets the missed clicks when it reconnects", async () => {
    const stalled = await open("");
    const response = responses[0] as ServerResponse;
    const cutOff = once(response, "close");
    let [written, last] = [0, ""];
    const click = async (count: number, city: string) => {
      const events = Array.from({ length: count }, () => linkClicked({ link: LINK, city }));
      last = (await append(stores.eventStore, "clicks-w-20260301", events)).position;
      written += count;
    };
    // Until the kernel takes no more: what is written is drained within a moment before.
    const isDrained = async () => {
      while (sent.position < last && !response.writableNeedDrain) await turn();
      const drained = once(response, "drain").then(() => true);
      return !response.writableNeedDrain || (await Promise.race([drained, delay(500, false)]));
    };
    do await click(10, LONG);
    while ((await isDrained()) && written < MOST_CLICKS);
    let most = 0;
    for (const end = written + THOUSANDS; written < end; ) {
      await click(500, "Paris");
      most = Math.max(most, response.writableLength);
    }
    await cutOff;
    await ended.promise;
    expect(most).toBeLessThan(2 * 10 * LONG.length);

    const before = await read(stalled, Number.POSITIVE_INFINITY);
    expect(before.clicks).toBeLessThan(written);
    const resumed = await open(before.lastId);
    const after = await read(resumed, written - before.clicks);
    resumed.destroy();
    expect(before.clicks + after.clicks).toBe(written);
  });
});

/** Counts the clicks of complete messages, up to a number or the end of the answer. */
async function read(answer: IncomingMessage, enough: number): Promise<{ clicks: number; lastId: string }> {
  const seen = { clicks: 0, lastId: "" };
  let text = "";
  answer.setEncoding("utf8");
  try {
    for await (const chunk of answer) {
      const messages = `${text}${chunk}`.split("\n\n");
      text = messages.pop() ?? "";
      for (const message of messages) {
        const [, id] = /^event: message\nid: (\S+)\n/.exec(message) ?? [];
        if (id === undefined) continue;
        seen.clicks += 1;
        seen.lastId = id;
      }
      if (seen.clicks >= enough) break;
    }
  } catch {
    // Cut off by the server; everything received before was read.
  }
  return seen;
}

describe("an export that is not read", () => {
  it("is cut off, one that is read slowly is not", async () => {
    async function* parts() {
      for (const part of ["a", "b", "c"]) yield part;
    }
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const cutOff = vi.fn();
    const seen: string[] = [];
    for await (const part of untilStalled(parts(), 100, cutOff)) {
      seen.push(part);
      vi.advanceTimersByTime(99);
    }
    expect(seen.join("")).toBe("abc");
    expect(cutOff).not.toHaveBeenCalled();
    const stalled = untilStalled(parts(), 100, cutOff);
    await stalled.next();
    vi.advanceTimersByTime(100);
    expect(cutOff).toHaveBeenCalledOnce();
    await stalled.return(undefined);
  });
});
