// For any clicks, withdrawals, restores and crashes: the documents are a fold of the clicks that are left.
import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { readEvent } from "../../src/events/read-event.ts";
import { withdrawalStream } from "../../src/events/streams.ts";
import { CLICK_KINDS } from "../../src/events/vocabulary.ts";
import { accountDays } from "../../src/projections/definitions/days/days.ts";
import type { LinkDay } from "../../src/projections/definitions/days/link-day.ts";
import { type LinkClicksDocument, linkClicks } from "../../src/projections/definitions/link-clicks.ts";
import { withdrawnOfAll } from "../../src/projections/fold/read-withdrawals.ts";
import { clickProjections } from "../../src/projections/groups.ts";
import { collectionsOf, type Projection, partsCollection } from "../../src/projections/projection.ts";
import { ProjectionRunner } from "../../src/projections/runner/runner.ts";
import { sumChecks } from "../../src/projections/verify/sums.ts";
import type { EventStore } from "../../src/stores/event-store/port.ts";
import type { Document, ReadStore } from "../../src/stores/read-store/port.ts";
import { ACCOUNT, linkClicked, linkCreated, OTHER_ACCOUNT } from "../support/event-store/stored-events.ts";
import { unrulyEventStore } from "../support/event-store/unruly-event-store.ts";
import { failingReadStore } from "../support/projections/failing-read-store.ts";
import { plainFold, plainParts } from "../support/projections/plain-fold.ts";
import { clicksRestored, clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { append, openStores } from "../support/runtime/stores.ts";

/** The first two links are of one account. */
const LINKS = [
  { link: "sho.rt/l0", accountId: ACCOUNT },
  { link: "sho.rt/l1", accountId: ACCOUNT },
  { link: "sho.rt/l2", accountId: OTHER_ACCOUNT },
];
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 2, 1);

const which = fc.constantFrom(...LINKS);
const time = fc.nat(4 * DAY_MS).map((ms) => new Date(START + ms).toISOString());
const clicks = fc.array(
  fc.record({
    of: which,
    at: time,
    kind: fc.constantFrom(...CLICK_KINDS),
    referrer: fc.nat(250).map((n) => `https://site-${n}.example/`),
    ip: fc.constantFrom("192.0.2.0", "198.51.100.0", "2001:db8:5::", undefined),
    visitor: fc.constantFrom("0123456789abcdef", "fedcba9876543210"),
    userAgent: fc.constantFrom("Mozilla/5.0", "curl/8.0", undefined),
    rule: fc.constantFrom(undefined, undefined, 1, 2),
  }),
  { minLength: 1, maxLength: 60, size: "max" },
);
const withdrawal = fc.record({
  of: which,
  /** Share of the log up to which clicks were counted for it. */
  counted: fc.constantFrom(0.3, 0.7, 1, 1),
  times: fc.option(fc.tuple(time, time), { nil: undefined }),
  filter: fc.constantFrom(
    {},
    {},
    { visitor: "0123456789abcdef" },
    { ipPrefix: "192.0.2.0/24" },
    { ipPrefix: "2001:db8::/32" },
    { userAgent: "CURL" },
  ),
});
const restore = fc.record({ restores: fc.nat(30) });
const step = fc.oneof({ weight: 3, arbitrary: clicks }, { weight: 2, arbitrary: withdrawal }, restore);
const lives = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 14, size: "max" }),
  sizes: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 }),
  breaks: fc.array(fc.record({ afterWrites: fc.nat(12), applied: fc.boolean() }), { maxLength: 8 }),
  /** After which step the projector has folded what there was. */
  foldedAt: fc.nat(14),
  maxEvents: fc.constantFrom(1, 1_000),
});
type Life = typeof lives extends fc.Arbitrary<infer T> ? T : never;

const log = pino({ level: "silent" });

describe("documents of clicks, some of them withdrawn", () => {
  it("are those of a fold of the others, live as rebuilt, for any batches and crashes", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(lives, async (life) => {
        const stores = await openStores();
        const rebuilt = await openStores();
        try {
          await live(life, stores);
          const { eventStore } = stores;
          const folding = { eventStore, projections: clickProjections, log };
          await new ProjectionRunner({ ...folding, readStore: rebuilt.readStore }).catchUp();
          await expectEqual(stores.readStore, rebuilt.readStore);
          await expectSurvivors(eventStore, stores.readStore);
          await expectSums(stores.readStore);
        } finally {
          await stores.close();
          await rebuilt.close();
        }
      }),
      { numRuns: effort(15, 60), interruptAfterTimeLimit: 15_000 },
    );
  });
});

async function live(
  life: Life,
  { eventStore, readStore }: { eventStore: EventStore; readStore: ReadStore },
): Promise<void> {
  const failing = failingReadStore(readStore, life.breaks);
  const unruly = unrulyEventStore(eventStore, life.sizes, 7);
  const { maxEvents } = life;
  const fold = async () => {
    // A new runner after each failure, without the old one's memory, as in a new process.
    for (let crashes = 0; crashes <= life.breaks.length; crashes += 1) {
      const deps = { eventStore: unruly, readStore: failing, projections: clickProjections, log };
      const ended = await new ProjectionRunner({ ...deps, maxEvents }).catchUp().then(
        () => true,
        () => false,
      );
      if (ended) return;
    }
    throw new Error("more crashes than breaks");
  };
  for (const { link, accountId } of LINKS)
    await append(eventStore, `link-${link}`, [linkCreated({ slug: link.slice(-2), accountId })]);
  const made: (typeof LINKS)[number][] = [];
  const restored = new Set<number>();
  for (const [n, one] of life.steps.entries()) {
    if (Array.isArray(one)) {
      const events = one.map(({ of, ...fields }) => linkClicked({ ...fields, ...of }));
      await append(eventStore, `clicks-w${n % 3}-20260301`, events);
    } else if ("restores" in one) {
      const number = one.restores % Math.max(1, made.length);
      const of = made[number];
      if (of && !restored.has(number))
        await append(eventStore, withdrawalStream(of.link), [clicksRestored(of, number)]);
      restored.add(number);
    } else {
      const [from, to] = [...(one.times ?? [])].sort();
      const times = from !== undefined && to !== undefined ? { from, to } : {};
      const stored = await eventStore.readAll({ categories: ["link", "clicks"], limit: 10_000 });
      const upTo = stored[Math.floor(one.counted * (stored.length - 1))]?.position ?? "";
      const event = clicksWithdrawn(one.of, made.length, { ...times, ...one.filter, upTo });
      await append(eventStore, withdrawalStream(one.of.link), [event]);
      made.push(one.of);
    }
    if (n === life.foldedAt) await fold();
  }
  await fold();
}

async function expectEqual(one: ReadStore, other: ReadStore): Promise<void> {
  for (const projection of clickProjections)
    expect(await all(one, projection), projection.name).toEqual(await all(other, projection));
}

/** Of the clicks that count, apart from `_position`; documents whose last click was withdrawn are empty ones. */
async function expectSurvivors(eventStore: EventStore, readStore: ReadStore): Promise<void> {
  const recorded = await eventStore.readAll({ categories: ["clicks"], limit: 10_000 });
  const isWithdrawn = await withdrawnOfAll({ eventStore });
  const events = recorded.flatMap((one) => readEvent(one) ?? []);
  const survivors = events.filter(
    ({ type, data, position }) => type === "LinkClicked" && !isWithdrawn({ ...data, position }),
  );
  for (const projection of [linkClicks, accountDays] as unknown as Projection[]) {
    const folded = [
      ...plainFold(projection, survivors).values(),
      ...plainParts(projection, survivors).values(),
    ];
    const unpositioned = (list: Document[]) =>
      new Map(list.map(({ _position, ...fields }) => [fields._id, fields]));
    const stored = (await all(readStore, projection)).filter(isCounted);
    expect(unpositioned(stored)).toEqual(unpositioned(folded));
  }
}

/** Days add up to links, links to accounts, and breakdowns to totals. */
async function expectSums(readStore: ReadStore): Promise<void> {
  const sums = sumChecks(true);
  for (const projection of clickProjections)
    for (const { name } of collectionsOf(projection)) {
      const isWhole = name === projection.collection.name;
      const of = isWhole ? projection.name : partsCollection(projection.name);
      for (const document of await allIn(readStore, name)) sums.see(of, document);
    }
  expect(sums.failures()).toEqual([]);
}

function isCounted(document: Document): boolean {
  const { totalClicks, quarters, kinds } = document as Document & Partial<LinkDay & LinkClicksDocument>;
  if (totalClicks !== undefined) return totalClicks > 0;
  return kinds ? Object.keys(kinds).length > 0 : (quarters ?? []).length > 0;
}

/** With their parts. */
async function all(readStore: ReadStore, projection: Projection): Promise<Document[]> {
  const found = await Promise.all(collectionsOf(projection).map(({ name }) => allIn(readStore, name)));
  return found.flat();
}

async function allIn(readStore: ReadStore, collection: string): Promise<Document[]> {
  const documents = await readStore.find<Document>(collection, { limit: 100_000 });
  return documents.sort((a, b) => (a._id < b._id ? -1 : 1));
}
