// For any clicks, zones and cuts: a range has exactly its clicks, and the sum over any partition of it equals the whole.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { readEvent } from "../../src/events/read-event.ts";
import { withdrawalStream } from "../../src/events/streams.ts";
import { CLICK_KINDS, type ClickKind, DEVICE_TYPES } from "../../src/events/vocabulary.ts";
import { isWithdrawnBy, type Withdrawal, withdrawalsAfter } from "../../src/events/withdrawals.ts";
import { COLUMNS, textsOf } from "../../src/projections/definitions/click-tables/columns.ts";
import { shortDestination } from "../../src/projections/definitions/rule-hits.ts";
import { DIMENSION_NAMES, DIMENSIONS } from "../../src/projections/definitions/summaries/breakdown.ts";
import { lifecycle } from "../../src/projections/groups.ts";
import { INTERVALS } from "../../src/queries/analytics/intervals.ts";
import type { LinkNumbers } from "../../src/queries/analytics/link-numbers.ts";
import type { Position } from "../../src/stores/event-store/port.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import { foldTables } from "../support/projections/fold-tables.ts";
import { type AskRange, rangesOf } from "../support/projections/range-of.ts";
import { clicksRestored, clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";

const LINK = "sho.rt/abc";
/** Around the days on which clocks are set in Europe, North America and on Lord Howe. */
const STARTS = ["2026-03-27T00:00:00.000Z", "2026-10-30T00:00:00.000Z", "2026-04-03T00:00:00.000Z"];
const SPAN_MS = 4 * 86_400_000;
const QUARTER_MS = 900_000;
const NOW = new Date("2026-12-01T00:00:00.000Z");
const ZONES = [
  ...["UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Asia/Kathmandu"],
  ...["Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia", "Africa/Monrovia"],
];
/** It is cut where it is kept with its rule. */
const LONG_URL = `https://example.com/${"l".repeat(300)}`;
/** Limits how long fast-check shrinks a counterexample. */
const LIMIT_MS = 15_000;

const moment = fc.oneof(
  fc.nat(SPAN_MS / QUARTER_MS).map((n) => n * QUARTER_MS),
  fc.nat(SPAN_MS / QUARTER_MS).map((n) => n * QUARTER_MS + 1),
  fc.nat(SPAN_MS),
);
const click = fc.record({
  offset: fc
    .oneof(
      moment,
      fc.nat(SPAN_MS / QUARTER_MS).map((n) => n * QUARTER_MS - 1),
    )
    .map((ms) => Math.max(0, ms)),
  link: fc.constantFrom(LINK, LINK, LINK, "sho.rt/other"),
  kind: fc.constantFrom(...CLICK_KINDS),
  device: fc.constantFrom(...DEVICE_TYPES),
  city: fc.constantFrom("a", "b", "other", "__proto__", ""),
  visitor: fc.nat(30).map((n) => String(n).padStart(2, "0").repeat(8)),
  source: fc.constantFrom(undefined, "mail", "ad"),
  rule: fc.constantFrom(undefined, "none", "a1", "b2"),
  longUrl: fc.constantFrom("https://example.com/a", "https://example.com/b", LONG_URL),
});
const happening = fc.oneof(
  { weight: 9, arbitrary: fc.array(click, { minLength: 1, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.record({ withdrawn: moment, to: moment }) },
  { weight: 1, arbitrary: fc.constant("restored" as const) },
);
const question = fc.record({
  cuts: fc.uniqueArray(moment, { minLength: 2, maxLength: 6 }),
  zone: fc.constantFrom(...ZONES),
  interval: fc.constantFrom(...INTERVALS),
  kind: fc.constantFrom(undefined, ...CLICK_KINDS),
  /** Share of the log that is read as of then; all of it when undefined. */
  asOf: fc.option(
    fc.nat(100).map((percent) => percent / 100),
    { nil: undefined },
  ),
});
const lives = fc.record({
  start: fc.constantFrom(...STARTS),
  happenings: fc.array(happening, { minLength: 1, maxLength: 8 }),
  questions: fc.array(question, { minLength: 6, maxLength: 12 }),
  pick: fc.gen().map((g) => (size: number) => g(fc.nat, size - 1)),
});

type Recorded = LinkClicked["data"] & { position: Position };
type Question = { from: number; to: number; kind: ClickKind | undefined; asOf: Position | undefined };

describe("ranges of a link's analytics", () => {
  it("have exactly their clicks, and their partitions sum to the whole, as of any position", {
    timeout: 120_000,
  }, async () => {
    let [asked, ofLog] = [0, 0];
    await fc.assert(
      fc.asyncProperty(lives, async ({ start, happenings, questions, pick }) => {
        await withStores(async (stores) => {
          const first = Date.parse(start);
          await happen(stores, first, happenings, pick);
          const ask = rangesOf(stores, NOW);
          const { clicks, positions, inForceAt } = await recorded(stores);
          for (const { cuts, zone, interval, kind, asOf } of questions) {
            const at = asOf === undefined ? undefined : positions[Math.floor(asOf * (positions.length - 1))];
            const range = { timezone: zone, interval, kind, ...(at !== undefined && { as_of: at }) };
            const sorted = cuts.toSorted((a, b) => a - b).map((offset) => first + offset);
            const [from = 0, to = 0] = [sorted[0], sorted.at(-1)];
            const isWithdrawn = isWithdrawnBy(inForceAt(at ?? positions.at(-1) ?? ""));
            const counts = (one: Question) =>
              clicks.filter((data) => isIn(data, { ...one, kind, asOf: at }) && !isWithdrawn(data));
            const whole = await ask({ ...range, from: iso(from), to: iso(to) });
            expectToBe(whole, counts({ from, to, kind, asOf: at }));
            const parts: LinkNumbers[] = [];
            for (const [n, cut] of sorted.slice(1).entries()) {
              const part = { from: sorted[n] ?? 0, to: cut };
              parts.push(await ask({ ...range, from: iso(part.from), to: iso(part.to) }));
              expectToBe(parts.at(-1) as LinkNumbers, counts({ ...part, kind, asOf: at }));
            }
            expect(summed(parts)).toEqual(summed([whole]));
            asked += 1;
            ofLog += at === undefined ? 0 : 1;
          }
          await expectWhole(
            ask,
            clicks.filter((data) => !isWithdrawnBy(inForceAt(positions.at(-1) ?? ""))(data)),
          );
        });
      }),
      { numRuns: effort(6, 20), interruptAfterTimeLimit: LIMIT_MS },
    );
    expect(asked).toBeGreaterThan(20);
    expect(ofLog).toBeGreaterThan(5);
  });
});

type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

async function happen(
  stores: Stores,
  first: number,
  happenings: readonly Happening[],
  pick: (size: number) => number,
) {
  const { eventStore } = stores;
  const isFolded = pick(2) === 0;
  await append(eventStore, `link-${LINK}`, [linkCreated()]);
  const time = (offset: number) => iso(first + offset);
  let withdrawals = 0;
  for (const [n, one] of happenings.entries()) {
    if (one === "restored") {
      if (withdrawals > 0)
        await append(eventStore, withdrawalStream(LINK), [clicksRestored({ link: LINK }, withdrawals)]);
    } else if ("withdrawn" in one) {
      withdrawals += 1;
      const [from, to] = [one.withdrawn, one.to].toSorted((a, b) => a - b).map(time);
      const event = clicksWithdrawn({ link: LINK }, withdrawals, { from: from ?? "", to: to ?? "" });
      await append(eventStore, withdrawalStream(LINK), [event]);
    } else {
      const events = one.map(({ offset, source, ...fields }) =>
        linkClicked({
          ...fields,
          accountVisitor: fields.visitor,
          at: time(offset),
          utm: source === undefined ? undefined : { source },
        }),
      );
      await append(eventStore, `clicks-w${n % 2}-20260301`, events);
    }
    if (n % 3 === 2 && isFolded) await foldGroups(stores);
  }
  if (isFolded) return await foldGroups(stores);
  await foldGroups(stores, [lifecycle]);
  await foldTables(stores, pick);
}

/** The link's clicks, the positions of its log from its creation on, and the withdrawals as of each of them. */
async function recorded({ eventStore }: Stores) {
  const all = await loggedEvents(eventStore, {
    categories: ["clicks", "link", "withdrawals"],
    limit: 10_000,
  });
  const events = all.flatMap((one) => readEvent(one) ?? []);
  const clicks: Recorded[] = events.flatMap((event) =>
    event.type === "LinkClicked" && event.data.link === LINK
      ? [{ ...event.data, position: event.position }]
      : [],
  );
  const inForceAt = (position: Position) =>
    events
      .filter((event) => event.position <= position)
      .reduce((inForce, event) => withdrawalsAfter(inForce, event), [] as readonly Withdrawal[]);
  return { clicks, positions: events.map(({ position }) => position), inForceAt };
}

function isIn({ at, kind, position }: Recorded, wanted: Question): boolean {
  const time = Date.parse(at);
  const isWanted = wanted.kind === undefined || kind === wanted.kind;
  return time >= wanted.from && time < wanted.to && isWanted && position <= (wanted.asOf ?? position);
}

function expectToBe(found: LinkNumbers, clicks: readonly Recorded[]): void {
  expect(found.totals.total).toBe(clicks.length);
  for (const kind of CLICK_KINDS)
    expect(found.totals[kind]).toBe(clicks.filter((one) => one.kind === kind).length);
  const starts = found.series.map(({ start }) => start);
  const byPoint = starts.map((start, n) =>
    clicks.filter(
      ({ at }) => Date.parse(at) >= start && Date.parse(at) < (starts[n + 1] ?? Number.POSITIVE_INFINITY),
    ),
  );
  expect(found.series.map(({ total }) => total)).toEqual(byPoint.map(({ length }) => length));
  for (const dimension of DIMENSION_NAMES)
    expect(new Map(found.breakdowns[dimension].values)).toEqual(
      tallied(clicks.map((click) => textsOf(click)[COLUMNS.indexOf(DIMENSIONS[dimension])] as string)),
    );
  expect(new Map(found.utm.source.values)).toEqual(tallied(clicks.flatMap(({ utm }) => utm?.source ?? [])));
  expect(new Map(ledBy(found))).toEqual(
    tallied(clicks.flatMap(({ rule, longUrl }) => (rule ? [`${rule} ${shortDestination(longUrl)}`] : []))),
  );
  const visitors = new Map<string, Set<string>>();
  for (const { at, visitor = "" } of clicks) {
    const day = at.slice(0, 10);
    visitors.set(day, (visitors.get(day) ?? new Set()).add(visitor));
  }
  expect(new Map(found.visitors.map(({ day, visitors: count }) => [day, count]))).toEqual(
    new Map([...visitors].map(([day, codes]) => [day, codes.size])),
  );
}

/** Hits by rule and destination. */
function ledBy({ rules }: LinkNumbers): [string, number][] {
  return rules.values.flatMap(({ id, hits, destinations }) => {
    expect(destinations.reduce((sum, [, count]) => sum + count, 0)).toBe(hits);
    return destinations.map(([url, count]): [string, number] => [`${id ?? "none"} ${url}`, count]);
  });
}

function summed(ranges: readonly LinkNumbers[]) {
  const add = (lists: (readonly (readonly [string, number])[])[]) => {
    const sums = new Map<string, number>();
    for (const [value, count] of lists.flat()) sums.set(value, (sums.get(value) ?? 0) + count);
    return sums;
  };
  return {
    totals: add(ranges.map(({ totals }) => Object.entries(totals))),
    breakdowns: DIMENSION_NAMES.map((name) => add(ranges.map(({ breakdowns }) => breakdowns[name].values))),
    utm: add(ranges.map(({ utm }) => utm.source.values)),
    rules: add(ranges.map(ledBy)),
  };
}

/** Without a range, and by each interval from the first click on. */
async function expectWhole(ask: AskRange, clicks: readonly Recorded[]): Promise<void> {
  for (const interval of ["day", "week", "month"] as const) expectToBe(await ask({ interval }), clicks);
  const { totals, breakdowns, rules, recent } = await ask(undefined);
  expect(totals.total).toBe(clicks.length);
  for (const { values } of Object.values(breakdowns))
    expect(values.reduce((sum, [, hits]) => sum + hits, 0)).toBe(clicks.length);
  expect(rules.values.reduce((sum, { hits }) => sum + hits, 0)).toBe(
    clicks.filter(({ rule }) => rule).length,
  );
  const latest = clicks.toSorted((a, b) => b.at.localeCompare(a.at) || b.position.localeCompare(a.position));
  expect(recent.map(({ at, type }) => [at, type])).toEqual(
    latest.slice(0, 10).map(({ at, kind }) => [at, kind]),
  );
}

function tallied(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

async function withStores(work: (stores: Stores) => Promise<void>) {
  const stores = await openStores();
  try {
    await work(stores);
  } finally {
    await stores.close();
  }
}
