// The link lookup over real stores: truth of the stream, revisions that never go back, domains that may close.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CoordinationUnavailable } from "../../src/coordination/errors.ts";
import { followChanges } from "../../src/coordination/follow-changes.ts";
import { type EventStore, StoreUnavailable } from "../../src/event-store/port.ts";
import { openSqliteEventStore } from "../../src/event-store/sqlite.ts";
import type { LinkEvent } from "../../src/events/catalogue.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { accountStream, linkStream } from "../../src/events/streams.ts";
import { domains } from "../../src/projections/domains.ts";
import { allProjections } from "../../src/projections/groups.ts";
import type { ReadStore } from "../../src/read-store/port.ts";
import { openSqliteReadStore } from "../../src/read-store/sqlite.ts";
import type { LinkCache } from "../../src/redirect/link-cache.ts";
import type { LinkFacts } from "../../src/redirect/link-entry.ts";
import { LinkLookup } from "../../src/redirect/lookup.ts";
import { type SharedLinks, sharedLinks } from "../../src/redirect/shared-links.ts";

const accountId = "7a6f3c1e-52b1-4f0e-9a54-2f6c1d7b8e90";
const at = "2026-05-01T12:00:00.000Z";
const origin = { correlationId: "r", causationId: "r", actor: { type: "operator" } } as const;

describe("the link lookup", () => {
  let folder: string;
  let eventStore: EventStore;
  let readStore: ReadStore;
  let lookup: LinkLookup;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "linkledger-lookup-"));
    eventStore = await openSqliteEventStore(join(folder, "events.db"), { pollMs: 50 });
    readStore = await openSqliteReadStore(join(folder, "read.db"));
    await readStore.ensure(allProjections.map((projection) => projection.collection));
    lookup = new LinkLookup({ eventStore, readStore, baseHost: "localhost" });
  });

  afterEach(async () => {
    await eventStore.close();
    await readStore.close();
    await rm(folder, { recursive: true });
  });

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
    expect(entry).toMatchObject({ status: "live", location: "https://example.com/%C3%BC?q=%C3%A4%20b" });
    expect(lookup.peek("localhost", "Abc")).toBe(entry);
  });

  it("asks the stores once for many requests at a time, and not at all for what can't be a slug", async () => {
    await append(created(), "none");
    const read = vi.spyOn(eventStore, "read");
    await Promise.all(Array.from({ length: 20 }, () => lookup.find("localhost", "abc")));
    expect(read).toHaveBeenCalledTimes(1);
    for (const slug of ["", "a.b", "a b", "../x", "a".repeat(51)])
      expect(await lookup.find("localhost", slug)).toBeUndefined();
    expect(read).toHaveBeenCalledTimes(1);
    await lookup.find("localhost", "gone");
    await lookup.find("localhost", "gone");
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("never replaces a newer link by an older one", async () => {
    lookup.prime(facts(2, "https://new.example/"));
    lookup.prime(facts(1, "https://old.example/"));
    expect(lookup.peek("localhost", "abc")?.location).toBe("https://new.example/");
  });

  it("answers a link at once after it was made, though its absence was remembered", async () => {
    expect(await lookup.find("localhost", "abc")).toBeUndefined();
    lookup.prime(facts(0, "https://example.com/"));
    expect(lookup.peek("localhost", "abc")?.location).toBe("https://example.com/");
  });

  it("does not believe a document that is behind what it has heard", async () => {
    await append(created(), "none");
    await append(retargeted("https://new.example/"), 0);
    await readStore.replace("links", [
      { _id: "localhost/abc", _position: "1", ...facts(0, "https://old.example/") },
    ]);
    lookup.outdate("localhost/abc", 1);
    expect((await lookup.find("localhost", "abc"))?.location).toBe("https://new.example/");
  });

  describe("of a custom domain", () => {
    const host = "go.example.com";
    const other = "0f8c2a52-0000-4000-8000-000000000001";
    const hear = (serves: boolean, position: string, owner = accountId) =>
      lookup.domains.hear({ hostname: host, accountId: owner, serves, position });

    it("serves it only while it is verified, active and its link's account's own", async () => {
      await append(created(host), "none");
      expect(await lookup.find(host, "abc")).toBeUndefined();
      await readStore.replace(domains.collection.name, [verified(true)]);
      hear(true, "1");
      expect(await lookup.find(host, "abc")).toBeDefined();
      expect(lookup.peek(host, "abc")).toBeDefined();
      hear(false, "2");
      expect(lookup.peek(host, "abc")).toBeUndefined();
      expect(await lookup.find(host, "abc")).toBeUndefined();
      await readStore.replace(domains.collection.name, [verified(false), verified(true, other)]);
      hear(true, "3", other);
      expect(await lookup.find(host, "abc")).toBeUndefined();
      expect(await lookup.find("localhost", "abc")).toBeUndefined();
    });

    it("believes no document that is behind what it has heard, in whatever order", async () => {
      await append(created(host), "none");
      await readStore.replace(domains.collection.name, [verified(true)]);
      hear(false, "4");
      hear(true, "3");
      expect(await lookup.find(host, "abc")).toBeUndefined();
      hear(true, "5");
      hear(false, "6", other);
      expect(await lookup.find(host, "abc")).toBeDefined();
    });

    it("asks the account's own stream while the documents are away, and remembers while that is away too", async () => {
      await append(created(host), "none");
      const find = vi.spyOn(readStore, "find").mockRejectedValue(new StoreUnavailable("away"));
      vi.spyOn(readStore, "get").mockRejectedValue(new StoreUnavailable("away"));
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
      expect(find).toHaveBeenCalled();
      vi.spyOn(eventStore, "read").mockRejectedValue(new StoreUnavailable("away"));
      const now = performance.now.bind(performance);
      vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
      await delay(5);
      expect(lookup.peek(host, "abc")).toBeUndefined();
      expect(await lookup.find(host, "abc")).toBeDefined();
    });
  });

  it("answers from the stream while the read store is away", async () => {
    await append(created(), "none");
    vi.spyOn(readStore, "get").mockRejectedValue(new StoreUnavailable("away"));
    expect(await lookup.find("localhost", "abc")).toBeDefined();
    expect(await lookup.find("localhost", "gone")).toBeUndefined();
  });

  it("lets one look a second wait for an event store that is away, the others fail at once", async () => {
    const read = vi.spyOn(eventStore, "read").mockRejectedValue(new StoreUnavailable("away"));
    for (const slug of ["one", "two", "three"])
      await expect(lookup.find("localhost", slug)).rejects.toThrow(StoreUnavailable);
    expect(read).toHaveBeenCalledTimes(1);
  });

  describe("with a cache that all processes share", () => {
    let entries: Map<string, LinkFacts>;
    let away: boolean;
    let stop: AbortController;
    let shared: SharedLinks;

    beforeEach(() => {
      entries = new Map();
      away = false;
      stop = new AbortController();
      const guarded = async <T>(work: () => T) => {
        if (away) throw new CoordinationUnavailable("away");
        return work();
      };
      const cache: LinkCache = {
        get: (key) => guarded(() => entries.get(key)),
        put: (key, link) => guarded(() => void entries.set(key, link)),
        outdate: (key, revision) =>
          guarded(() => void ((entries.get(key)?.revision ?? 0) < revision && entries.delete(key))),
      };
      shared = sharedLinks({
        cache,
        sleep: async (ms) => void (await delay(ms / 50)),
        signal: stop.signal,
      });
      lookup = new LinkLookup({ eventStore, readStore, baseHost: "localhost", shared });
      return () => stop.abort();
    });

    it("asks it before the stores, and tells it what they answered", async () => {
      await append(created(), "none");
      const get = vi.spyOn(readStore, "get");
      await lookup.find("localhost", "abc");
      await expect.poll(() => entries.get("localhost/abc")?.revision).toBe(0);
      entries.set("localhost/other", facts(0, "https://shared.example/"));
      expect((await lookup.find("localhost", "other"))?.location).toBe("https://shared.example/");
      expect(get).toHaveBeenCalledTimes(1);
    });

    it("believes it no more than a document once it has heard of something newer", async () => {
      await append(created(), "none");
      await append(retargeted("https://new.example/"), 0);
      entries.set("localhost/abc", facts(0, "https://old.example/"));
      lookup.outdate("localhost/abc", 1);
      expect((await lookup.find("localhost", "abc"))?.location).toBe("https://new.example/");
    });

    it("goes on without it, and outdates in it what it missed as soon as it is back", async () => {
      await append(created(), "none");
      entries.set("localhost/abc", facts(0, "https://old.example/"));
      away = true;
      expect(await lookup.find("localhost", "abc")).toBeDefined();
      shared.outdate("localhost/abc", 1);
      await delay(50);
      expect(entries.size).toBe(1);
      away = false;
      await expect.poll(() => entries.size).toBe(0);
    });
  });

  it("hears of another process's change within 250 ms, and of all that the documents don't show yet", async () => {
    await append(created(), "none");
    await append(retargeted("https://one.example/"), 0);
    await readStore.replace("links", [
      { _id: "localhost/abc", _position: "1", ...facts(0, "https://old.example/") },
    ]);
    const stop = new AbortController();
    const listeners = [{ link: (key: string, revision: number) => lookup.outdate(key, revision) }];
    const deps = { eventStore, readStore, listeners, random: Math.random, log: () => undefined };
    const running = followChanges(deps, stop.signal);
    await vi.waitFor(async () =>
      expect((await lookup.find("localhost", "abc"))?.location).toBe("https://one.example/"),
    );
    const other = await openSqliteEventStore(join(folder, "events.db"));
    const event = newEvent(retargeted("https://two.example/"), crypto.randomUUID(), origin);
    await other.append(linkStream("localhost", "abc"), 1, [event]);
    await vi.waitFor(
      async () => expect((await lookup.find("localhost", "abc"))?.location).toBe("https://two.example/"),
      { timeout: 500, interval: 10 },
    );
    await other.close();
    stop.abort();
    await running;
  });

  it("hears of a domain's service only from events that change it, not from its home page or its record", async () => {
    const heard: boolean[] = [];
    const stop = new AbortController();
    const listeners = [{ domain: ({ serves }: { serves: boolean }) => void heard.push(serves) }];
    const deps = { eventStore, readStore, listeners, random: Math.random, log: () => undefined };
    const of = { accountId, at, hostname: "go.example.com", domainId: accountId };
    const history = [
      { type: "DomainActivated", data: of },
      { type: "DomainHomeSet", data: { ...of, homeUrl: null } },
      { type: "DomainRecordLost", data: of },
      { type: "DomainRecordFound", data: of },
      { type: "DomainDeactivated", data: of },
    ] as const;
    const events = history.map((event) => newEvent(event, crypto.randomUUID(), origin));
    await eventStore.append(accountStream(accountId), "none", events);
    const running = followChanges(deps, stop.signal);
    await vi.waitFor(() => expect(heard.at(-1)).toBe(false));
    stop.abort();
    await running;
    expect(heard).toEqual([true, false]);
  });
});
