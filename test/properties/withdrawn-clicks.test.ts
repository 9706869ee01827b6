// For any clicks, withdrawals, restores and crashes: the documents are a fold of the clicks that are left.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEvent } from "../../src/events/read-event.ts";
import { withdrawalStream } from "../../src/events/streams.ts";
import { CLICK_KINDS } from "../../src/events/vocabulary.ts";
import { fieldsThatDiffer } from "../../src/projections/builds/differences.ts";
import type { Breakdown } from "../../src/projections/definitions/breakdown.ts";
import type { LinkDay } from "../../src/projections/definitions/days/link-day.ts";
import type { LinkClicksDocument } from "../../src/projections/definitions/link-clicks.ts";
import { valueCounts } from "../../src/projections/definitions/tally.ts";
import { withdrawnOfAll } from "../../src/projections/fold/read-withdrawals.ts";
import { clicks as clickGroup } from "../../src/projections/groups.ts";
import type { Projection } from "../../src/projections/projection.ts";
import type { EventStore } from "../../src/stores/event-store/port.ts";
import type { Document, ReadStore } from "../../src/stores/read-store/port.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { ACCOUNT, linkClicked, linkCreated, OTHER_ACCOUNT } from "../support/event-store/stored-events.ts";
import { unrulyEventStore } from "../support/event-store/unruly-event-store.ts";
import { failingReadStore } from "../support/projections/failing-read-store.ts";
import { foldGroups, foldLive } from "../support/projections/fold-groups.ts";
import { plainFold } from "../support/projections/plain-fold.ts";
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
    rule: fc.constantFrom(undefined, undefined, "none", "a1"),
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
const steps = fc.array(step, { minLength: 1, maxLength: 14, size: "max" });

/** More links than a day of an account has in its list, which therefore is cut, all on one day. */
const MANY_LINKS = 1_050;
const ofMany = fc
  .oneof(fc.nat(MANY_LINKS - 1), fc.integer({ min: 985, max: MANY_LINKS - 1 }))
  .map((n) => ({ link: `sho.rt/m${n}`, accountId: ACCOUNT }));
const crowd = fc.array(
  fc.record({ of: ofMany, at: fc.nat(DAY_MS - 1).map((ms) => new Date(START + ms).toISOString()) }),
  { minLength: 1, maxLength: 80, size: "max" },
);
const ofCrowd = fc.record({
  of: ofMany,
  counted: fc.constantFrom(0.5, 1, 1),
  times: fc.constant(undefined),
  filter: fc.constant({}),
});
const crowdedSteps = fc
  .tuple(
    fc.integer({ min: 990, max: 1_010 }),
    fc.array(fc.oneof(crowd, ofCrowd, restore), { minLength: 2, maxLength: 14, size: "max" }),
  )
  .map(([others, more]) => [
    Array.from({ length: others }, (_, n) => ({
      ...{ of: { link: `sho.rt/m${n}`, accountId: ACCOUNT }, at: new Date(START + n).toISOString() },
    })),
    ...more,
  ]);
const fates = {
  sizes: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 }),
  breaks: fc.array(fc.record({ afterWrites: fc.nat(12), applied: fc.boolean() }), { maxLength: 8 }),
  /** After which step the projector has folded what there was. */
  foldedAt: fc.nat(14),
  /** Counted on while withdrawals are folded, or read to the end first, as a rebuild is. */
  isLive: fc.boolean(),
};
const lives = fc.record({ steps, ...fates });
const crowdedLives = fc.record({ steps: crowdedSteps, ...fates });
type Life = typeof lives extends fc.Arbitrary<infer T> ? T : never;
type CrowdedLife = typeof crowdedLives extends fc.Arbitrary<infer T> ? T : never;

/** Commits as often as it can, so that withdrawals meet clicks in the making. */
const hasty = { ...clickGroup, commitMs: { least: 2, most: 10 } };

describe("documents of clicks, some of them withdrawn", () => {
  it("are those of a fold of the others, live as rebuilt, for any batches and crashes", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(fc.asyncProperty(lives, expectSameAsRebuilt), {
      ...{ numRuns: effort(15, 60), interruptAfterTimeLimit: 15_000 },
    });
  });

  it("are so where an account's day has more links than its list", { timeout: 120_000 }, async () => {
    await fc.assert(fc.asyncProperty(crowdedLives, expectSameAsRebuilt), {
      ...{ numRuns: effort(4, 30), interruptAfterTimeLimit: 30_000 },
    });
  });
});

async function expectSameAsRebuilt(life: Life | CrowdedLife): Promise<void> {
  const stores = await openStores();
  const rebuilt = await openStores();
  try {
    await live(life, stores);
    const { eventStore } = stores;
    await foldGroups({ eventStore, readStore: rebuilt.readStore }, [clickGroup]);
    await expectEqual(stores.readStore, rebuilt.readStore);
    await expectSurvivors(eventStore, stores.readStore);
  } finally {
    await stores.close();
    await rebuilt.close();
  }
}

async function live(
  life: Life | CrowdedLife,
  { eventStore, readStore }: { eventStore: EventStore; readStore: ReadStore },
): Promise<void> {
  const failing = failingReadStore(readStore, life.breaks);
  const unruly = unrulyEventStore(eventStore, life.sizes, 7);
  const fold = async () => {
    // Each time without the memory of before, as in a new process.
    for (let crashes = 0; crashes <= life.breaks.length; crashes += 1) {
      const folding = { eventStore: unruly, readStore: failing };
      const fold = life.isLive ? foldLive(folding, hasty) : foldGroups(folding, [clickGroup]);
      const failure = await fold.catch((error: unknown) => error);
      if (failure === undefined) return;
      if (crashes === life.breaks.length) throw failure;
    }
  };
  for (const { link, accountId } of LINKS)
    await append(eventStore, `link-${link}`, [linkCreated({ slug: link.slice(-2), accountId })]);
  const made: { link: string; accountId: string }[] = [];
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
      const stored = await loggedEvents(eventStore, { categories: ["link", "clicks"], limit: 10_000 });
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
  for (const { collection } of clickGroup.projections) {
    const others = new Map((await all(other, collection.name)).map((document) => [document._id, document]));
    const documents = await all(one, collection.name);
    expect(documents.map(({ _id }) => _id)).toEqual([...others.keys()]);
    for (const document of documents)
      expect([document._id, fieldsThatDiffer(document, others.get(document._id) as Document)]).toEqual([
        document._id,
        [],
      ]);
  }
}

/** Of the clicks that count, in any order; documents whose last click was withdrawn are empty ones. */
async function expectSurvivors(eventStore: EventStore, readStore: ReadStore): Promise<void> {
  const recorded = await loggedEvents(eventStore, { categories: ["clicks"], limit: 10_000 });
  const isWithdrawn = await withdrawnOfAll({ eventStore });
  const events = recorded.flatMap((one) => readEvent(one) ?? []);
  const survivors = events.filter(
    ({ type, data, position }) => type === "LinkClicked" && !isWithdrawn({ ...data, position }),
  );
  const counting = clickGroup.projections.filter(({ name }) => name !== "click-hours");
  for (const projection of counting as Projection[]) {
    const expected = [...plainFold(projection, survivors).values()].map(counted);
    const stored = (await all(readStore, projection.collection.name)).filter(isCounted).map(counted);
    expect(new Map(stored)).toEqual(new Map(expected));
  }
}

type Counted = Document & Partial<LinkDay & LinkClicksDocument>;

function isCounted(document: Document): boolean {
  const { totalClicks, quarters } = document as Counted;
  return (totalClicks ?? quarters?.length) !== 0;
}

/** Without the range of the log, which withdrawn clicks stay in, and with values in the order of their names. */
function counted(document: Document): [string, object] {
  const { _id, _position, _corrected, first, last, kinds, lastDays, ...fields } = document as Counted & {
    _corrected?: string;
  };
  const people = lastDays && [...lastDays, ...Array<number>(14).fill(0)].slice(0, 14);
  const sorted =
    kinds &&
    Object.entries(kinds).map(([kind, { tallies, utm, rules, ...more }]) => [
      kind,
      named({ tallies, ...(utm && { utm }), ...(rules && { rules }) }),
      more,
    ]);
  return [
    _id,
    { ...fields, lastDays: people, kinds: sorted && new Map(sorted.map(([kind, ...of]) => [kind, of])) },
  ];
}

/** Of a tally that was cut, only the sum doesn't depend on the order of the clicks. */
function named({ tallies, rules }: Breakdown) {
  return [...tallies, rules ?? []].map((tally) => {
    const counts = valueCounts(tally);
    const isCut = counts.some(([value]) => value === "other");
    return isCut
      ? counts.reduce((sum, [, hits]) => sum + hits, 0)
      : counts.sort(([a], [b]) => (a < b ? -1 : 1));
  });
}

async function all(readStore: ReadStore, collection: string): Promise<Document[]> {
  const documents = await readStore.find<Document>(collection, { limit: 100_000 });
  return documents.sort((a, b) => (a._id < b._id ? -1 : 1));
}
