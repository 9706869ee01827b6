// For any batches, redelivery and crashes: the documents equal a plain fold of the events.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoredEvent } from "../../src/events/catalogue.ts";
import { readEvent } from "../../src/events/read-event.ts";
import { CLICK_KINDS, DEVICE_TYPES } from "../../src/events/vocabulary.ts";
import { DIMENSIONS } from "../../src/projections/definitions/click-dimensions.ts";
import { accountDays } from "../../src/projections/definitions/days/account-day.ts";
import { type DayDocument, hitsOfKind } from "../../src/projections/definitions/days/days.ts";
import { linkDays } from "../../src/projections/definitions/days/link-day.ts";
import { linkClicks } from "../../src/projections/definitions/link-clicks.ts";
import { type Tally, valueCounts } from "../../src/projections/definitions/tally.ts";
import { clicks as clickGroup } from "../../src/projections/groups.ts";
import type { ReadStore } from "../../src/stores/read-store/port.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { ACCOUNT, linkClicked, OTHER_ACCOUNT } from "../support/event-store/stored-events.ts";
import { unrulyEventStore } from "../support/event-store/unruly-event-store.ts";
import { failingReadStore } from "../support/projections/failing-read-store.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import { plainFold } from "../support/projections/plain-fold.ts";
import { effort } from "../support/runtime/effort.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";

const value = fc.oneof(
  fc.nat(400).map((n) => `v${n}`),
  fc.constantFrom("__proto__", "constructor", "other", "unknown", "a.b", "$inc", "é\u{1f600}"),
);
const click = fc
  .record({
    link: fc.nat(2).map((n) => `sho.rt/l${n}`),
    kind: fc.constantFrom(...CLICK_KINDS),
    device: fc.constantFrom(...DEVICE_TYPES),
    referrer: value.map((host) => `https://${host}/`),
    city: value,
    at: fc.nat(72).map((n) => new Date(Date.UTC(2026, 2, 1, n, n)).toISOString()),
    source: fc.option(value),
    rule: fc.constantFrom(undefined, undefined, "none", "a1", "b2"),
  })
  .map(({ source, ...fields }) => linkClicked({ ...fields, utm: source === null ? undefined : { source } }));
const clicks = fc.oneof(
  fc.array(click, { minLength: 1, maxLength: 60, size: "max" }),
  fc.array(click, { minLength: 250, maxLength: 700, size: "max" }),
);
const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 6 });
const breaks = fc.array(fc.record({ afterWrites: fc.nat(20), applied: fc.boolean() }), { maxLength: 8 });

/** Limits how long fast-check shrinks a counterexample. */
const LIMIT_MS = 15_000;

describe("projections of clicks", () => {
  it("equal the plain fold for any events, batches, redelivery and crashes", {
    timeout: 120_000,
  }, async () => {
    const lives = fc.record({
      clicks,
      sizes,
      again: fc.nat(15),
      breaks,
    });
    await fc.assert(
      fc.asyncProperty(lives, async (life) => {
        await withStores(async ({ eventStore, readStore }) => {
          for (let n = 0; n < life.clicks.length; n += 100) {
            await append(eventStore, `clicks-w${n % 3}-20260301`, life.clicks.slice(n, n + 100));
          }
          const unruly = unrulyEventStore(eventStore, life.sizes, life.again);
          const failing = failingReadStore(readStore, life.breaks);
          const run = async () => {
            // Each time without the memory of before, as in a new process.
            for (let crashes = 0; crashes <= life.breaks.length; crashes += 1) {
              const folding = { eventStore: unruly, readStore: failing };
              const ended = await foldGroups(folding, [clickGroup]).then(
                () => true,
                () => false,
              );
              if (ended) return;
            }
            throw new Error("more crashes than breaks");
          };
          await run();

          const recorded = await loggedEvents(eventStore, { categories: ["clicks"], limit: 10_000 });
          const events = recorded.flatMap((one) => readEvent(one) ?? []);
          await expectPlainFold(readStore, events);
        });
      }),
      { numRuns: effort(8, 25), interruptAfterTimeLimit: LIMIT_MS },
    );
  });

  it("have breakdowns that sum to the totals, however many values there are", {
    timeout: 4 * LIMIT_MS,
  }, async () => {
    // All clicks on one link, so that its tallies are pruned repeatedly.
    const ofOneLink = click.map((event) => linkClicked({ ...event.data, link: "sho.rt/hot" }));
    await fc.assert(
      fc.property(fc.array(ofOneLink, { minLength: 200, maxLength: 900, size: "max" }), (list) => {
        const events = list.map(asStored);
        const [document] = plainFold(linkClicks, events).values();
        const days = [...plainFold(linkDays, events).values()];
        for (const kind of CLICK_KINDS) {
          expectSums(document?.kinds[kind]?.tallies, document?.[kind] ?? 0);
          for (const day of days) expectSums(day.kinds[kind]?.tallies, hitsOfKind(day, kind));
        }
      }),
      { numRuns: effort(8, 25), interruptAfterTimeLimit: LIMIT_MS },
    );
  });

  it("have days, of links and of accounts, that sum to the totals", { timeout: 4 * LIMIT_MS }, async () => {
    const ofAccounts = fc
      .tuple(click, fc.constantFrom(ACCOUNT, OTHER_ACCOUNT))
      .map(([event, accountId]) =>
        linkClicked({ ...event.data, accountId, link: `${event.data.link}-${accountId}` }),
      );
    await fc.assert(
      fc.property(fc.array(ofAccounts, { minLength: 1, maxLength: 300, size: "max" }), (list) => {
        const events = list.map(asStored);
        const sums = (days: Iterable<DayDocument>) => {
          const bySubject = new Map<string, number[]>();
          for (const { _id, quarters } of days) {
            const subject = _id.slice(0, -"@2026-03-01".length);
            const sum = bySubject.get(subject) ?? [0, 0, 0];
            for (const [, ...hits] of quarters)
              for (const [i, n] of hits.entries()) sum[i] = (sum[i] ?? 0) + n;
            bySubject.set(subject, sum);
          }
          return bySubject;
        };
        const totals = (idOf: (one: (typeof list)[number]["data"]) => string) => {
          const byId = Map.groupBy(list, ({ data }) => idOf(data));
          const ofKinds = (some: typeof list) =>
            CLICK_KINDS.map((kind) => some.filter(({ data }) => data.kind === kind).length);
          return new Map([...byId].map(([id, some]) => [id, ofKinds(some)]));
        };
        expect(sums(plainFold(linkDays, events).values())).toEqual(totals(({ link }) => link));
        expect(sums(plainFold(accountDays, events).values())).toEqual(totals(({ accountId }) => accountId));
      }),
      { numRuns: effort(15, 50), interruptAfterTimeLimit: LIMIT_MS },
    );
  });
});

function asStored(event: ReturnType<typeof linkClicked>, n: number): StoredEvent {
  const metadata = {
    schemaVersion: 1,
    correlationId: "",
    causationId: "",
    actor: { type: "operator" },
  } as const;
  const position = String(n).padStart(20, "0");
  return {
    ...event,
    id: `e${n}`,
    stream: "clicks-a",
    revision: n,
    position,
    recordedAt: event.data.at,
    metadata,
  };
}

function expectSums(tallies: readonly Tally[] = [], hits: number) {
  const counts = tallies.map(valueCounts);
  const sums = counts.map((values) => values.reduce((sum, [, count]) => sum + count, 0));
  expect(sums).toEqual(hits === 0 ? [] : DIMENSIONS.map(() => hits));
  for (const values of counts) expect(values.length).toBeLessThanOrEqual(200);
}

async function expectPlainFold(readStore: ReadStore, events: readonly StoredEvent[]) {
  for (const projection of clickGroup.projections)
    expect(await storedIn(readStore, projection.collection.name)).toEqual(plainFold(projection, events));
  const { position, id } = events.at(-1) ?? {};
  expect(await readStore.checkpoint(clickGroup.name)).toEqual({ position, eventId: id });
}

async function storedIn(readStore: ReadStore, collection: string) {
  const stored = await readStore.find(collection, { limit: 100_000 });
  return new Map(stored.map((document) => [document._id, document]));
}

async function withStores(work: (stores: Stores) => Promise<void>) {
  const stores = await openStores();
  try {
    await work(stores);
  } finally {
    await stores.close();
  }
}
