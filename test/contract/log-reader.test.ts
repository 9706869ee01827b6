// The thread that reads the log for API and portal, on either event store: complete, ordered exports; a live feed that starts
// at its position; and no work for clients that have disconnected.
import { afterEach, describe, expect, it } from "vitest";
import { openEventStore } from "../../src/backend/open-event-store.ts";
import { type Config, parseConfig } from "../../src/config.ts";
import type { EventStore } from "../../src/event-store/port.ts";
import { openSqliteEventStore } from "../../src/event-store/sqlite/event-store.ts";
import { accountStream } from "../../src/events/streams.ts";
import { openLogReader } from "../../src/log-reader/log-reader.ts";
import { createLogger } from "../../src/runtime/logging.ts";
import { EVENTSTOREDB, ownEventStoreDb } from "../support/event-store/eventstoredb-fixture.ts";
import { ACCOUNT, linkClicked } from "../support/event-store/stored-events.ts";
import { append } from "../support/runtime/stores.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";

const LINK = "sho.rt/abc";
const CLICKS = 2_400;

type Opened = { config: Config; eventStore: EventStore };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const stores: Record<string, () => Promise<Opened>> = {
  SQLite: async () => {
    const folder = await temporaryFolder();
    closers.push(() => folder.remove());
    const eventStore = await openSqliteEventStore(`${folder.path}/events.db`);
    closers.push(() => eventStore.close());
    return { config: parseConfig({ DATA_DIR: folder.path }), eventStore };
  },
  [EVENTSTOREDB]: async () => {
    const { url: eventStoreUrl, ownPrefix: eventStorePrefix, store, close } = await ownEventStoreDb();
    closers.push(close);
    const config = { ...parseConfig({ DATA_DIR: "unused" }), eventStoreUrl, eventStorePrefix };
    return { config, eventStore: store };
  },
};

describe.each(Object.entries(stores))("the log reader on %s", (name, open) => {
  async function reader() {
    const { config, eventStore } = await open();
    const opened = {
      type: "AccountOpened",
      data: { accountId: ACCOUNT, at: "2026-03-01T10:00:00.000Z", tier: "free" },
    };
    await append(eventStore, accountStream(ACCOUNT), [opened as never]);
    for (const link of [LINK, "sho.rt/other"]) {
      const clicks = Array.from({ length: CLICKS }, (_, n) => linkClicked({ link, city: String(n) }));
      await append(eventStore, `clicks-${link.slice(-5)}-20260301`, clicks);
    }
    const logReader = openLogReader(config, createLogger("silent"));
    closers.push(() => logReader.close());
    // Positions are assigned by the store, so they are read back from it.
    const reading = await openEventStore(config, { offThread: false });
    closers.push(() => reading.close());
    const [opening] = await reading.read(accountStream(ACCOUNT));
    return { logReader, eventStore, start: opening?.position ?? "" };
  }
  const signal = () => new AbortController().signal;

  // On SQLite every position up to the end is one of the log's.
  if (name === EVENTSTOREDB)
    it("calls a position where no event starts the caller's mistake", async () => {
      const { logReader, start } = await reader();
      const inside = start.replaceAll(/\d(?!\d)/g, (digit) => String((Number(digit) + 1) % 10));
      const request = { after: inside, types: [], limit: 10 };
      await expect(logReader.feed(ACCOUNT, request, "plain")).rejects.toMatchObject({
        code: "invalid_position",
        message: expect.stringMatching(/one that it has shown/),
      });
    });

  it("writes every click of a link, and every event of an account", async () => {
    const { logReader, start } = await reader();
    const parts: string[] = [];
    for await (const part of logReader.exportClicks(LINK, start, "ndjson", signal())) parts.push(part);
    const cities = parts
      .join("")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).city);
    expect(cities).toEqual(Array.from({ length: CLICKS }, (_, n) => String(n)));
    // Streamed in parts, not as one file.
    expect(parts.length).toBeGreaterThan(2);
    let lines = 0;
    for await (const part of logReader.exportAccount(ACCOUNT, signal())) lines += part.split("\n").length - 1;
    expect(lines).toBe(1 + 2 * CLICKS);
  });

  it("follows an account until its client disconnects", async () => {
    const { logReader, eventStore, start } = await reader();
    const stop = new AbortController();
    const batches = logReader.followAccount(ACCOUNT, start, ["LinkClicked"], "plain", stop.signal);
    let seen = 0;
    const upTo = async (count: number) => {
      while (seen < count) {
        const next = await batches.next();
        if (next.done) break;
        seen += next.value.events.length;
      }
      return seen;
    };
    expect(await upTo(2 * CLICKS)).toBe(2 * CLICKS);
    await append(eventStore, "clicks-late-20260301", [linkClicked({ link: LINK })]);
    expect(await upTo(2 * CLICKS + 1)).toBe(2 * CLICKS + 1);
    stop.abort();
    while (!(await batches.next()).done);
  });
});
