// The link lookup over real stores: truth of the stream, revisions that never go back, domains that may close.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EventStore } from "../../src/event-store/port.ts";
import { openSqliteEventStore } from "../../src/event-store/sqlite.ts";
import type { LinkEvent } from "../../src/events/catalogue.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { linkStream } from "../../src/events/streams.ts";
import { allProjections } from "../../src/projections/groups.ts";
import type { ReadStore } from "../../src/read-store/port.ts";
import { openSqliteReadStore } from "../../src/read-store/sqlite.ts";
import { runInvalidator } from "../../src/redirect/invalidator.ts";
import { LinkLookup } from "../../src/redirect/lookup.ts";

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

  it("serves a custom domain only while it is verified, active and its link's account's own", async () => {
    await append(created("go.example.com"), "none");
    expect(await lookup.find("go.example.com", "abc")).toBeUndefined();
    await readStore.replace("domains", [verified(true)]);
    lookup.domains.forget("go.example.com");
    expect(await lookup.find("go.example.com", "abc")).toBeDefined();
    expect(lookup.peek("go.example.com", "abc")).toBeDefined();
    await readStore.replace("domains", [verified(false)]);
    lookup.domains.forget("go.example.com");
    expect(lookup.peek("go.example.com", "abc")).toBeUndefined();
    expect(await lookup.find("go.example.com", "abc")).toBeUndefined();
    await readStore.replace("domains", [verified(true, "0f8c2a52-0000-4000-8000-000000000001")]);
    lookup.domains.forget("go.example.com");
    expect(await lookup.find("go.example.com", "abc")).toBeUndefined();
    expect(await lookup.find("localhost", "abc")).toBeUndefined();
  });

  it("hears of another process's change within 250 ms, and of all that the documents don't show yet", async () => {
    await append(created(), "none");
    await append(retargeted("https://one.example/"), 0);
    await readStore.replace("links", [
      { _id: "localhost/abc", _position: "1", ...facts(0, "https://old.example/") },
    ]);
    const stop = new AbortController();
    const deps = { eventStore, readStore, lookup, random: Math.random, log: () => undefined };
    const running = runInvalidator(deps, stop.signal);
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
});
