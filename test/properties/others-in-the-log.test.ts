// A log that others write to before, between and after us: read in any order, by readers that begin anew, nobody looks
// through the same part of it twice, and all that is made of it is as of a log of our own.

import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Sealer } from "../../src/audit/seals/sealer.ts";
import type { LinkledgerEvent } from "../../src/events/catalogue.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { ALL_CATEGORIES, followedStreams } from "../../src/events/streams.ts";
import { groupStatus } from "../../src/projections/builds/status.ts";
import type { ChunkDocument } from "../../src/projections/definitions/click-tables/chunk.ts";
import { decodedPositions, positionAt } from "../../src/projections/definitions/click-tables/positions.ts";
import { collectionsOf } from "../../src/projections/fold/build.ts";
import { projectionGroups } from "../../src/projections/groups.ts";
import { LogFollower } from "../../src/stores/coordination/log-follower.ts";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import type { EventStore } from "../../src/stores/event-store/port.ts";
import { prefixedEventStore } from "../../src/stores/event-store/prefixed-event-store.ts";
import { allDocuments } from "../../src/stores/read-store/document-pages.ts";
import type { ReadStore } from "../../src/stores/read-store/port.ts";
import { KEYS } from "../support/audit/keys.ts";
import { verified } from "../support/audit/verified.ts";
import { appendNext } from "../support/event-store/append-next.ts";
import { startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import type { Look } from "../support/event-store/eventstoredb-double/read.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { ACCOUNT, linkClicked, linkCreated, linkDisabled } from "../support/event-store/stored-events.ts";
import { firstBuild, foldGroups, silent } from "../support/projections/fold-groups.ts";
import { openStores } from "../support/runtime/stores.ts";
import { until } from "../support/runtime/until.ts";

const RUNS = 12;
const AT = "2026-03-01T10:15:00.000Z";

/** `begin anew`: the reader's process was killed and is started again. */
type Step =
  | { kind: "others" | "clicks"; count: number }
  | { kind: "disable" | "fold" | "seal" | "begin anew" | "catch up" };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom("others", "clicks"), count: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constantFrom("disable", "fold", "seal", "begin anew", "catch up") }),
  ),
  { maxLength: 24 },
);

async function holds(taken: readonly Step[]): Promise<void> {
  const double = await startDouble();
  const [alone, among] = [await openStores(), await openStores()];
  const opened: EventStore[] = [];
  const stop = new AbortController();
  /** A client of its own, so that what it looks through is counted apart. */
  const readerOf = async (name: string) => {
    const store = await openEventStoreDb(`${double.connectionString}&connectionName=${name}`);
    opened.push(store);
    return prefixedEventStore(store, "linkledger_");
  };
  // Before the log grows: the subscription of a page looks on until the server hears that its reader has left.
  const pagesAreOver = () =>
    until("the subscriptions of pages to be over", () =>
      double.looks.every(({ reader, isOpen }) => !isOpen || reader === "follower"),
    );
  let following: Promise<void> | undefined;
  try {
    const writer = await readerOf("writer");
    const append = async (stream: string, events: readonly LinkledgerEvent[]) => {
      const origin = { correlationId: "c", causationId: "c", actor: { type: "operator" as const } };
      const made = events.map((event) => newEvent(event, randomUUID(), origin));
      await pagesAreOver();
      for (const store of [writer, alone.eventStore]) await appendNext(store, stream, made);
    };
    await append(`account-${ACCOUNT}`, [
      { type: "AccountOpened", data: { accountId: ACCOUNT, at: AT, tier: "developer" } },
    ]);
    await append("link-sho.rt/abc", [linkCreated({ at: AT })]);
    const folding = await readerOf("projector");
    const follower = new LogFollower({
      followed: followedStreams,
      eventStore: await readerOf("follower"),
      documentsPosition: () => writer.head(),
      random: Math.random,
      log: silent,
    });
    following = follower.run(stop.signal);
    let lives = 0;
    let sealers: Sealer[] = [];
    const openSealers = async () => {
      lives += 1;
      const deps = { keys: [KEYS] as const, clock: () => new Date(), newId: randomUUID };
      const noted = { get: async () => undefined, set: async () => undefined };
      for (const eventStore of [await readerOf(`sealer-${lives}`), alone.eventStore])
        sealers.push(await Sealer.open({ ...deps, eventStore, noted }));
    };
    const fold = async () => {
      await foldGroups({ eventStore: folding, readStore: among.readStore });
      await foldGroups(alone);
    };
    const seal = async () => {
      if (sealers.length === 0) await openSealers();
      for (const sealer of sealers) {
        while (await sealer.read());
        await pagesAreOver();
        if (sealer.unsealed.events > 0) await sealer.seal();
      }
    };
    for (const step of taken) {
      if (step.kind === "others") {
        await pagesAreOver();
        double.log.others.write(step.count);
      } else if (step.kind === "clicks") {
        const clicks = Array.from({ length: step.count }, () => linkClicked({ at: AT }));
        await append("clicks-a-20260301", clicks);
      } else if (step.kind === "disable") await append("link-sho.rt/abc", [linkDisabled("abc")]);
      else if (step.kind === "fold") await fold();
      else if (step.kind === "seal") await seal();
      else if (step.kind === "catch up") await follower.catchUp();
      else sealers = [];
    }
    await fold();
    await seal();
    await follower.catchUp();

    expect(await documentsOf(folding, among.readStore)).toEqual(
      await documentsOf(alone.eventStore, alone.readStore),
    );
    const [proof, proofAlone] = [await verified(writer), await verified(alone.eventStore)];
    expect(proof).toMatchObject({ ok: true, problems: [], events: proofAlone.events });
    expect(proof.seals).toMatchObject({ newest: proofAlone.seals.newest, unsealed: 0 });
    for (const group of projectionGroups) {
      const stores = { eventStore: folding, readStore: among.readStore, clock: () => new Date() };
      expect(await groupStatus(stores, group)()).toMatchObject({ behind: false, lagMs: 0 });
    }
    // By the subscription, by whoever waits until it is caught up, and by the page of the backlog that ends behind the start.
    const most = (reader: string) => mostLooks(double.looks, (look) => look.reader === reader);
    expect(most("follower")).toBeLessThanOrEqual(3);
    for (const reader of ["projector", ...Array.from({ length: lives }, (_, n) => `sealer-${n + 1}`)])
      expect([reader, most(reader)]).toEqual([reader, Math.min(most(reader), 1)]);
  } finally {
    stop.abort();
    await following;
    for (const store of opened) await store.close();
    await Promise.all([alone.close(), among.close(), double.close()]);
  }
}

/** How often one event was looked through by one filter of a reader. */
function mostLooks(looks: readonly Look[], isOfReader: (look: Look) => boolean): number {
  const counts = new Map<string, number>();
  for (const look of looks.filter(isOfReader)) {
    if (look.filter === "{}") continue;
    for (let n = look.from; n < look.to; n += 1) {
      const key = `${look.filter} ${n}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return Math.max(0, ...counts.values());
}

/** With each event's number in our own log instead of its position and time, which differ between two logs. */
async function documentsOf(eventStore: EventStore, readStore: ReadStore): Promise<string[]> {
  const events = await loggedEvents(eventStore, { categories: ALL_CATEGORIES, limit: 10_000 });
  const numbers = new Map<string, string>();
  for (const [n, { position, recordedAt }] of events.entries()) {
    numbers.set(position, `#${n}`);
    numbers.set(recordedAt, "then");
  }
  const documents: string[] = [];
  for (const group of projectionGroups)
    for (const { name } of collectionsOf(group, firstBuild(group)))
      for (const document of await allDocuments(readStore, name, { limit: 1_000 })) {
        const text = JSON.stringify("columns" in document ? withPositions(document) : document);
        const plain = text.replace(
          /\d{20}(:\d{20})?|\d{4}-[\d-]+T[\d:.]+Z/g,
          (part) => numbers.get(part) ?? part,
        );
        documents.push(`${name} ${plain}`);
      }
  return documents.sort();
}

/** Of a chunk, whose positions are columns of numbers. */
function withPositions(document: object) {
  const { columns } = document as ChunkDocument;
  const { rows } = columns.position;
  const positions = decodedPositions(columns.position);
  return { ...document, columns: { ...columns, position: rows.map((_, row) => positionAt(positions, row)) } };
}

it("is looked through once by each reader, and all that is made of it is as of a log of our own", async () => {
  await fc.assert(fc.asyncProperty(steps, holds), { numRuns: RUNS });
}, 120_000);
