// Pages of an account's events: complete and in order from any position, however large the rest of the log is.

import { beforeEach, describe, expect, it } from "vitest";
import type { EventType, LinkClicked } from "../../../src/events/catalogue.ts";
import { accountStream, operatorStream } from "../../../src/events/streams.ts";
import { refuseForeignPosition } from "../../../src/queries/cursor.ts";
import { accountFeed } from "../../../src/queries/feed/account-events.ts";
import { feedEvent } from "../../../src/queries/feed/feed-event.ts";
import type { EventStore, RecordedEvent } from "../../../src/stores/event-store/port.ts";
import {
  ACCOUNT,
  AT,
  linkClicked,
  linkCreated,
  linkDisabled,
  OTHER_ACCOUNT,
} from "../../support/event-store/stored-events.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append, type Stores, storesOfTest } from "../../support/runtime/stores.ts";

let stores: Stores;
beforeEach(async () => {
  stores = await storesOfTest();
});

const opened = (accountId: string) =>
  ({ type: "AccountOpened", data: { accountId, at: "2026-03-01T10:00:00.000Z", tier: "free" } }) as const;
const clicks = (accountId: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => linkClicked({ accountId, city: String(from + n) }));

type Given = { after?: string | undefined; types?: EventType[]; limit?: number; eventStore?: EventStore };
function page({ after, types = [], limit = 100, eventStore = stores.eventStore }: Given = {}) {
  return accountFeed({ eventStore }, ACCOUNT, { after, types, limit });
}

/** All pages from a position, to the one that says that there is no more. */
async function all(given: Given = {}) {
  const found = [];
  let [after, pages] = [given.after, 0];
  for (;;) {
    const { events, next, more } = await page({ ...given, after });
    found.push(...events);
    pages += 1;
    after = next;
    if (!more) return { events: found, next, pages };
  }
}

describe("the account's feed", () => {
  it("begins with AccountOpened, and has the account's own events of every stream in order", async () => {
    await append(stores.eventStore, accountStream(OTHER_ACCOUNT), [opened(OTHER_ACCOUNT)]);
    await append(stores.eventStore, accountStream(ACCOUNT), [opened(ACCOUNT)]);
    await append(stores.eventStore, "link-sho.rt/abc", [linkCreated()]);
    await append(stores.eventStore, "link-sho.rt/xyz", [
      linkCreated({ slug: "xyz", accountId: OTHER_ACCOUNT }),
    ]);
    await append(stores.eventStore, "clicks-w-20260301", [
      ...clicks(OTHER_ACCOUNT, 2),
      ...clicks(ACCOUNT, 2),
    ]);
    const { events, more } = await page();
    expect(events.map(({ type }) => type)).toEqual([
      "AccountOpened",
      "LinkCreated",
      "LinkClicked",
      "LinkClicked",
    ]);
    expect(more).toBe(false);
    const positions = events.map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted());
  });

  it("passes over no event and repeats none, whatever the size of its pages", async () => {
    await append(stores.eventStore, accountStream(ACCOUNT), [opened(ACCOUNT)]);
    let own = 1;
    for (let n = 0; n < 30; n += 1) {
      const batch = [...clicks(OTHER_ACCOUNT, 1 + (n % 3)), ...clicks(ACCOUNT, n % 4, n * 10)];
      await append(stores.eventStore, `clicks-w${n}-20260301`, batch);
      own += n % 4;
    }
    const whole = (await all({ limit: 1_000 })).events;
    expect(whole).toHaveLength(own);
    for (const limit of [1, 2, 7]) expect((await all({ limit })).events).toEqual(whole);
    for (const { position } of whole)
      expect((await all({ after: position })).events).toEqual(
        whole.filter((event) => event.position > position),
      );
  });

  it("has events that were appended after a page at its next position", async () => {
    await append(stores.eventStore, accountStream(ACCOUNT), [opened(ACCOUNT)]);
    const { next } = await page();
    expect(await page({ after: next })).toEqual({ events: [], next, more: false });
    await append(stores.eventStore, "clicks-w-20260301", clicks(ACCOUNT, 1));
    expect((await page({ after: next })).events).toHaveLength(1);
  });

  it("reads at most 10,000 events for a page, which may be empty and moves on", async () => {
    await append(stores.eventStore, accountStream(ACCOUNT), [opened(ACCOUNT)]);
    for (let n = 0; n < 12; n += 1)
      await append(stores.eventStore, "clicks-others-20260301", clicks(OTHER_ACCOUNT, 1_000));
    await append(stores.eventStore, "clicks-own-20260301", clicks(ACCOUNT, 1));
    let read = 0;
    const counting = storeWith<EventStore>(stores.eventStore, {
      readAll: async (options) => {
        const page = await stores.eventStore.readAll(options);
        read += page.events.length;
        return page;
      },
    });
    const first = await page({ types: ["LinkClicked"], eventStore: counting });
    expect([first.events, first.more, read]).toEqual([[], true, 10_000]);
    const second = await page({ types: ["LinkClicked"], after: first.next });
    expect(second).toMatchObject({ events: [{ type: "LinkClicked" }], more: false });
  });

  it("has only events of the types that are asked for", async () => {
    await append(stores.eventStore, accountStream(ACCOUNT), [opened(ACCOUNT)]);
    await append(stores.eventStore, "link-sho.rt/abc", [linkCreated()]);
    await append(stores.eventStore, "clicks-w-20260301", clicks(ACCOUNT, 3));
    const types = async (...wanted: EventType[]) =>
      (await page({ types: wanted })).events.map(({ type }) => type);
    expect(await types("LinkCreated")).toEqual(["LinkCreated"]);
    expect(await types("LinkCreated", "AccountOpened")).toEqual(["AccountOpened", "LinkCreated"]);
  });

  it("refuses a position of another store, and one beyond the end of the log", async () => {
    const refuse = (position: string) => refuseForeignPosition(stores, position);
    await expect(refuse("00000000000000000000")).rejects.toMatchObject({ code: "invalid_position" });
    const { position } = await append(stores.eventStore, accountStream(ACCOUNT), [opened(ACCOUNT)]);
    await expect(refuse(position)).resolves.toBeUndefined();
    const other = `${position}:${position}`;
    for (const foreign of [other, "abc", "1", position.replace(/.$/, "9")])
      await expect(refuse(foreign)).rejects.toMatchObject({ code: "invalid_position" });
  });

  it("shows an event of a newer program to nobody, rather than to pass over it", async () => {
    await append(stores.eventStore, accountStream(ACCOUNT), [opened(ACCOUNT)]);
    const [event] = (await page()).events;
    if (!event) throw new Error("no event");
    const metadata = { ...event.metadata, schemaVersion: 99 };
    expect(() => feedEvent({ ...event, metadata })).toThrow("newer program");
  });

  it("has what can't be read: to its owner as far as that can be told, else to everybody", async () => {
    await append(stores.eventStore, accountStream(ACCOUNT), [opened(ACCOUNT)]);
    await append(stores.eventStore, accountStream(OTHER_ACCOUNT), [opened(OTHER_ACCOUNT)]);
    await append(stores.eventStore, "link-sho.rt/abc", [linkCreated(), linkDisabled("abc")]);
    await append(stores.eventStore, "clicks-w-20260301", clicks(ACCOUNT, 3));
    await append(stores.eventStore, operatorStream(new Date(AT)), [
      { type: "OperatorSignedIn", data: { at: AT, browser: "", address: "" } },
    ]);
    const spoilt = (event: RecordedEvent): RecordedEvent => {
      if (event.type === "LinkDisabled") return { ...event, type: "", data: null, unreadable: "cut off" };
      if (event.type === "OperatorSignedIn") return { ...event, data: null, unreadable: "cut off" };
      if (event.type !== "LinkClicked") return event;
      const { accountId, city } = event.data as LinkClicked["data"];
      if (city === "0") return { ...event, data: { accountId } };
      return city === "1" ? { ...event, data: "not an object" } : event;
    };
    const eventStore = storeWith<EventStore>(stores.eventStore, {
      readAll: async (options) => {
        const { events, next } = await stores.eventStore.readAll(options);
        return { events: events.map(spoilt), next };
      },
    });
    const shown = async (accountId: string, types: EventType[] = []) =>
      (await accountFeed({ eventStore }, accountId, { after: undefined, types, limit: 100 })).events.map(
        (event) => {
          const { subject, data, at, recorded_at: recordedAt, ...rest } = feedEvent(event);
          if (data) return event.type;
          expect(rest).toMatchObject({ type: "Unreadable", stored_type: event.type });
          return [event.type, subject, at === recordedAt, "error" in rest];
        },
      );
    const unreadable = [
      ["", "link/sho.rt/abc", true, true],
      ["LinkClicked", "log", true, true],
      ["LinkClicked", "log", true, true],
    ];
    expect(await shown(ACCOUNT)).toEqual(["AccountOpened", "LinkCreated", ...unreadable, "LinkClicked"]);
    expect(await shown(OTHER_ACCOUNT)).toEqual(["AccountOpened", unreadable[2]]);
    expect(await shown(ACCOUNT, ["LinkCreated"])).toEqual(["LinkCreated", unreadable[0]]);
  });
});
