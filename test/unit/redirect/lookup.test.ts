// The link lookup over real stores: truth of the stream, revisions that never go back, domains and accounts that end.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { AccountEvent, LinkEvent } from "../../../src/events/catalogue.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { accountStream, linkStream } from "../../../src/events/streams.ts";
import { domains } from "../../../src/projections/definitions/domains.ts";
import { lifecycle, projectionGroups } from "../../../src/projections/groups.ts";
import { LinkLookup } from "../../../src/redirect/lookup/look-up.ts";
import { StoreUnavailable } from "../../../src/stores/connections/errors.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { openSqliteEventStore } from "../../../src/stores/event-store/sqlite/event-store.ts";
import type { ReadStore } from "../../../src/stores/read-store/port.ts";
import { openSqliteReadStore } from "../../../src/stores/read-store/read-store.sqlite.ts";
import { appendNext } from "../../support/event-store/append-next.ts";
import { followerOf } from "../../support/event-store/log-follower.ts";
import { foldGroups } from "../../support/projections/fold-groups.ts";
import { stretched } from "../../support/runtime/slowness.ts";
import { putDocuments } from "../../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const accountId = "7a6f3c1e-52b1-4f0e-9a54-2f6c1d7b8e90";
const at = "2026-05-01T12:00:00.000Z";
const origin = { correlationId: "r", causationId: "r", actor: { type: "operator" } } as const;

describe("the link lookup", () => {
  let folder: TemporaryFolder;
  let eventStore: EventStore;
  let readStore: ReadStore;
  let isFollowing: boolean;
  let lookup: LinkLookup;

  beforeEach(async () => {
    folder = await temporaryFolder();
    eventStore = await openSqliteEventStore(join(folder.path, "events.db"));
    readStore = await openSqliteReadStore(join(folder.path, "read.db"));
    await readStore.ensure(
      projectionGroups.flatMap(({ projections }) => projections.map(({ collection }) => collection)),
    );
    isFollowing = true;
    lookup = newLookup();
  });

  afterEach(async () => {
    await eventStore.close();
    await readStore.close();
    await folder.remove();
  });

  const newLookup = (random = () => 0) =>
    new LinkLookup({
      ...{ eventStore, readStore, random },
      baseHost: "localhost",
      isFollowing: () => isFollowing,
    });
  const linkChanged = (revision: number) =>
    lookup.onEvent({
      stream: "link-localhost/abc",
      type: "LinkRetargeted",
      data: {},
      revision,
      position: "9",
    });
  const project = () => foldGroups({ eventStore, readStore }, [lifecycle]);
  /** Follows the log for the lookup, until the returned function is called. */
  const follow = () => {
    const stop = new AbortController();
    const follower = followerOf({ eventStore, readStore });
    follower.listen((event) => lookup.onEvent(event));
    const running = follower.run(stop.signal);
    return {
      follower,
      async stop() {
        stop.abort();
        await running;
      },
    };
  };
  /** Time that passes only when told to, also for the cache, which keeps the time for a second by a timer. */
  const manualClock = () => {
    let now = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => now);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    return (ms: number) => {
      now += ms;
      vi.advanceTimersByTime(ms);
    };
  };
  const created = (host = "localhost", longUrl = "https://example.com/ü?q=ä b"): LinkEvent => ({
    type: "LinkCreated",
    data: {
      host,
      slug: "abc",
      accountId,
      at,
      longUrl,
      shortUrl: `http://${host}/abc`,
      via: "api",
      custom: false,
    },
  });
  const append = (event: LinkEvent, expected: number | "none") =>
    eventStore.append(linkStream(event.data.host, "abc"), expected, [
      newEvent(event, crypto.randomUUID(), origin),
    ]);
  const retargeted = (to: string): LinkEvent => ({
    type: "LinkRetargeted",
    data: { host: "localhost", slug: "abc", accountId, at, from: "x", to },
  });
  const facts = (revision: number, longUrl: string, host = "localhost") =>
    ({
      host,
      slug: "abc",
      accountId,
      longUrl,
      shortUrl: `http://${host}/abc`,
      status: "live",
      via: "api",
      revision,
    }) as const;
  const verified = (active: boolean, owner = accountId) => ({
    _id: `${owner}/go.example.com`,
    _position: active ? "1" : "2",
    hostname: "go.example.com",
    accountId: owner,
    state: "verified",
    active,
  });

  it("finds a link from its stream alone, with a Location that a header can hold, in any case of the slug", async () => {
    await append(created(), "none");
    expect(lookup.peek("localhost", "abc")).toBeUndefined();
    const entry = await lookup.find("localhost", "ABC");
    expect(entry).toMatchObject({
      facts: { deleted: false },
      location: "https://example.com/%C3%BC?q=%C3%A4%20b",
    });
    expect(lookup.peek("localhost", "Abc")).toBe(entry);
  });

  it("remembers no absence: a link made elsewhere is found as soon as it is there", async () => {
    expect(await lookup.find("localhost", "abc")).toBeUndefined();
    await append(created(), "none");
    expect(await lookup.find("localhost", "abc")).toBeDefined();
  });

  it("looks again after a minute, however often a link was asked for", async () => {
    const pass = manualClock();
    await append(created("localhost", "https://old.example/"), "none");
    await lookup.find("localhost", "abc");
    await append(retargeted("https://new.example/"), 0);
    pass(59_000);
    expect(lookup.peek("localhost", "abc")?.location).toBe("https://old.example/");
    pass(2_000);
    expect(lookup.peek("localhost", "abc")).toBeUndefined();
    expect((await lookup.find("localhost", "abc"))?.location).toBe("https://new.example/");
  });

  it("answers what it knew a minute ago while the stores are unavailable", async () => {
    const pass = manualClock();
    await append(created(), "none");
    await lookup.find("localhost", "abc");
    pass(62_000);
    vi.spyOn(readStore, "get").mockRejectedValue(new StoreUnavailable("away"));
    vi.spyOn(eventStore, "read").mockRejectedValue(new StoreUnavailable("away"));
    expect(await lookup.find("localhost", "abc")).toBeDefined();
    linkChanged(1);
    await expect(lookup.find("localhost", "abc")).rejects.toThrow(StoreUnavailable);
  });

  it("does not believe a document that is behind what was followed", async () => {
    await append(created(), "none");
    await append(retargeted("https://new.example/"), 0);
    await putDocuments(readStore, "links", [
      { _id: "localhost/abc", _position: "1", ...facts(0, "https://old.example/") },
    ]);
    linkChanged(1);
    expect((await lookup.find("localhost", "abc"))?.location).toBe("https://new.example/");
  });

  describe("of a closed account", () => {
    const opened: AccountEvent = { type: "AccountOpened", data: { accountId, at, tier: "free" } };
    const closed: AccountEvent = { type: "AccountClosed", data: { accountId, at } };
    const given = (event: AccountEvent) =>
      appendNext(eventStore, accountStream(accountId), [newEvent(event, crypto.randomUUID(), origin)]);

    it("finds no link within a second, by that event alone and while the documents stand still", async () => {
      await given(opened);
      await append(created(), "none");
      await project();
      const following = follow();
      expect(await lookup.find("localhost", "abc")).toBeDefined();
      await given(closed);
      const known = () => lookup.peek("localhost", "abc");
      await expect.poll(known, { timeout: stretched(1_000), interval: 10 }).toBeUndefined();
      expect(await lookup.find("localhost", "abc")).toBeUndefined();
      await following.stop();
    });
  });

  describe("of a custom domain", () => {
    const host = "go.example.com";
    const other = "0f8c2a52-0000-4000-8000-000000000001";
    const domainChanged = (position: string, owner = accountId) =>
      lookup.onEvent({
        ...{ stream: accountStream(owner), type: "DomainRemoved", revision: 0, position },
        data: { hostname: host, accountId: owner },
      });

    it("serves it only while it is verified, active and its link's account's own", async () => {
      await append(created(host), "none");
      expect(await lookup.find(host, "abc")).toBeUndefined();
      await putDocuments(readStore, domains.collection.name, [verified(true)]);
      expect(await lookup.find(host, "abc")).toBeDefined();
      expect(lookup.peek(host, "abc")).toBeDefined();
      domainChanged("2");
      expect(lookup.peek(host, "abc")).toBeUndefined();
      expect(await lookup.find(host, "abc")).toBeUndefined();
      await putDocuments(readStore, domains.collection.name, [verified(false), verified(true, other)]);
      expect(await lookup.find(host, "abc")).toBeUndefined();
      expect(await lookup.find("localhost", "abc")).toBeUndefined();
    });

    it("goes on whatever another account does with the name", async () => {
      await append(created(host), "none");
      await putDocuments(readStore, domains.collection.name, [verified(true)]);
      expect(await lookup.find(host, "abc")).toBeDefined();
      domainChanged("6", other);
      expect(lookup.peek(host, "abc")).toBeDefined();
      expect(await lookup.find(host, "abc")).toBeDefined();
    });

    it("asks the account's own stream while the documents are away, and keeps that while both are", async () => {
      const pass = manualClock();
      await append(created(host), "none");
      const get = vi.spyOn(readStore, "get").mockRejectedValue(new StoreUnavailable("away"));
      expect(await lookup.find(host, "abc")).toBeUndefined();
      const account = [
        { type: "AccountOpened", data: { accountId, at, tier: "developer" } },
        { type: "DomainAdded", data: { accountId, at, hostname: host, token: "t" } },
        { type: "DomainVerified", data: { accountId, at, hostname: host, domainId: accountId, how: "dns" } },
        { type: "DomainActivated", data: { accountId, at, hostname: host, domainId: accountId } },
      ] as const;
      const events = account.map((event) => newEvent(event, crypto.randomUUID(), origin));
      await eventStore.append(accountStream(accountId), "none", events);
      expect(await lookup.find(host, "abc")).toBeDefined();
      expect(get).toHaveBeenCalled();
      vi.spyOn(eventStore, "read").mockRejectedValue(new StoreUnavailable("away"));
      pass(62_000);
      expect(lookup.peek(host, "abc")).toBeUndefined();
      expect(await lookup.find(host, "abc")).toBeDefined();
      domainChanged("9");
      await expect(lookup.find(host, "abc")).rejects.toThrow(StoreUnavailable);
    });
  });

  it("answers from the stream while the read store is away", async () => {
    await append(created(), "none");
    vi.spyOn(readStore, "get").mockRejectedValue(new StoreUnavailable("away"));
    expect(await lookup.find("localhost", "abc")).toBeDefined();
    expect(await lookup.find("localhost", "gone")).toBeUndefined();
  });

  it("goes by another process's change within 250 ms, and by all that the documents don't show yet", async () => {
    await append(created(), "none");
    await append(retargeted("https://one.example/"), 0);
    await putDocuments(readStore, "links", [
      { _id: "localhost/abc", _position: "1", ...facts(0, "https://old.example/") },
    ]);
    const following = follow();
    const leadsTo = async () => (await lookup.find("localhost", "abc"))?.location;
    await expect.poll(leadsTo).toBe("https://one.example/");
    const other = await openSqliteEventStore(join(folder.path, "events.db"));
    const event = newEvent(retargeted("https://two.example/"), crypto.randomUUID(), origin);
    await other.append(linkStream("localhost", "abc"), 1, [event]);
    await expect.poll(leadsTo, { timeout: stretched(500), interval: 10 }).toBe("https://two.example/");
    await other.close();
    await following.stop();
  });
});
