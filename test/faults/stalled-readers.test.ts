// A client that stops reading a stream costs bounded memory for a bounded time, and loses no event.
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { accountStreams } from "../../src/api/streaming/account-streams.ts";
import { eventStream } from "../../src/api/streaming/live-streams.ts";
import { CLICK_KINDS } from "../../src/events/vocabulary.ts";
import { untilStalled } from "../../src/portal/analytics/export-streams.ts";
import { sendClicks } from "../../src/portal/analytics/link-live.ts";
import { type LiveClicks, liveClicks } from "../../src/queries/analytics/live-clicks.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";

const LINK = "sho.rt/abc";
/** More than the kernel's socket buffers hold. */
const MOST_CLICKS = 2_000;
const THOUSANDS = 5_000;
const STALLED_MS = 2_000;
/** Each message has ten of these, so that the kernel's socket buffers fill quickly. */
const LONG = "a".repeat(20_000);

describe("a live page that stops reading while thousands of clicks come", () => {
  let stores: Stores;
  let live: LiveClicks;
  let server: Server;
  let responses: ServerResponse[];
  let sent: { position: string };
  let ended: PromiseWithResolvers<void>;

  beforeEach(async () => {
    stores = await openStores();
    const sleep = async (ms: number) => void (await delay(ms));
    live = liveClicks({ eventStore: stores.eventStore, sleep, log: { warn: () => undefined } });
    responses = [];
    ended = Promise.withResolvers();
    // The route without its session check, so that only the stream is tested.
    server = createServer((request, raw) => {
      responses.push(raw);
      const stream = new AbortController();
      const { signal } = stream;
      const browser = eventStream(raw, {}, stream, STALLED_MS);
      const after = String(request.headers["last-event-id"] ?? "");
      const sending = { sleep: async () => void (await turn()) };
      sent = { position: after };
      sendClicks(sending, followed(after, signal), browser, sent, CLICK_KINDS)
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
        const [, id = "", data = "{}"] = /^event: clicks\nid: (\S+)\ndata: (.*)/.exec(message) ?? [];
        const { quarters = {} } = JSON.parse(data) as { quarters?: Record<string, number[]> };
        for (const counts of Object.values(quarters)) for (const count of counts) seen.clicks += count;
        seen.lastId = id || seen.lastId;
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

  it("counts against the limits of its account and of all accounts", () => {
    const streams = accountStreams(2, 3);
    const one = streams.enter("a");
    expect([one, streams.enter("a"), streams.enter("a")].map(Boolean)).toEqual([true, true, false]);
    expect([streams.enter("b"), streams.enter("c")].map(Boolean)).toEqual([true, false]);
    if (one) streams.leave("a", one);
    if (one) streams.leave("a", one);
    expect([streams.enter("c"), streams.enter("d")].map(Boolean)).toEqual([true, false]);
  });
});
