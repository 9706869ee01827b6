// For any clicks, late ones, withdrawals, restores, batches and crashes between any two writes: tables, totals and the
// summaries of closed days are what a plain fold of the log gives, live as rebuilt.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { referrerHostOf } from "../../src/events/click-facts.ts";
import { readEvent } from "../../src/events/read-event.ts";
import { withdrawalStream } from "../../src/events/streams.ts";
import { CLICK_KINDS, UTM_FIELDS } from "../../src/events/vocabulary.ts";
import type { ChunkDocument } from "../../src/projections/definitions/click-tables/chunk.ts";
import { COLUMNS, placeName, textsOf } from "../../src/projections/definitions/click-tables/columns.ts";
import { decodeChunk, positionOfRow } from "../../src/projections/definitions/click-tables/decode-chunk.ts";
import { rowsOfTable } from "../../src/projections/definitions/click-tables/table.ts";
import { ruleHit, shortDestination } from "../../src/projections/definitions/rule-hits.ts";
import {
  type AccountDayDocument,
  SUMMED_FIELDS,
  VALUE_MEMBERS,
} from "../../src/projections/definitions/summaries/account-day.ts";
import type { Breakdown } from "../../src/projections/definitions/summaries/breakdown.ts";
import type { DaySummary } from "../../src/projections/definitions/summaries/day.ts";
import { type Tally, valueCounts } from "../../src/projections/definitions/summaries/tally.ts";
import { type Patterns, shortCode } from "../../src/projections/definitions/summaries/visitors.ts";
import { closedDays, linkDayOf } from "../../src/projections/fold/clicks/stored-days.ts";
import { withdrawnOfAll } from "../../src/projections/fold/read-withdrawals.ts";
import { clicks as clickGroup } from "../../src/projections/groups.ts";
import type { EventStore, Position } from "../../src/stores/event-store/port.ts";
import type { Document, ReadStore } from "../../src/stores/read-store/port.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { ACCOUNT, linkClicked, linkCreated, OTHER_ACCOUNT } from "../support/event-store/stored-events.ts";
import { unrulyEventStore } from "../support/event-store/unruly-event-store.ts";
import { failingReadStore } from "../support/projections/failing-read-store.ts";
import { foldGroups, foldLive } from "../support/projections/fold-groups.ts";
import { clicksRestored, clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { append, openStores } from "../support/runtime/stores.ts";

/** The first two links are of one account. */
const LINKS = [
  { link: "sho.rt/l0", accountId: ACCOUNT },
  { link: "sho.rt/l1", accountId: ACCOUNT },
  { link: "sho.rt/l2", accountId: OTHER_ACCOUNT },
] as const;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 2, 1);
/** Of which the last few are still open at the end. */
const DAYS = 40;

const which = fc.constantFrom(...LINKS);
/** Most clicks are of few days, so that these have many. */
const time = fc
  .oneof({ weight: 4, arbitrary: fc.nat(2 * DAY_MS) }, fc.nat(DAYS * DAY_MS))
  .map((ms) => new Date(START + ms).toISOString());
const value = fc.oneof(
  fc.nat(250).map((n) => `v${n}`),
  fc.constantFrom("__proto__", "constructor", "other", "unknown", "a.b", "$inc", "é\u{1f600}"),
);
const click = fc.record({
  of: which,
  at: time,
  kind: fc.constantFrom(...CLICK_KINDS),
  referrer: value.map((host) => `https://${host}/`),
  city: value,
  ip: fc.constantFrom("192.0.2.0", "198.51.100.0", "2001:db8:5::", undefined),
  visitor: fc.constantFrom("0123456789abcdef", "fedcba9876543210"),
  accountVisitor: fc.nat(300).map((n) => n.toString(16).padStart(16, "0")),
  userAgent: fc.constantFrom("Mozilla/5.0", "curl/8.0", undefined),
  rule: fc.constantFrom(undefined, undefined, "none", "a1"),
  utm: fc.option(fc.record({ source: value }), { nil: undefined }),
});
/** Many of a few, as chunks of fewer than 300 rows are replaced. */
const crowd = fc
  .tuple(fc.array(click, { minLength: 3, maxLength: 9 }), fc.integer({ min: 250, max: 900 }))
  .map(([few, count]) =>
    Array.from({ length: count }, (_, n) => {
      const base = few[n % few.length] as (typeof few)[number];
      return {
        ...base,
        at: new Date(START + ((Date.parse(base.at) - START + n * 977) % (2 * DAY_MS))).toISOString(),
      };
    }),
  );
const clicks = fc.oneof(
  { weight: 4, arbitrary: fc.array(click, { minLength: 1, maxLength: 60, size: "max" }) },
  { weight: 1, arbitrary: crowd },
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
  sizes: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 6 }),
  breaks: fc.array(fc.record({ afterWrites: fc.nat(40), applied: fc.boolean() }), { maxLength: 8 }),
  isByDocument: fc.boolean(),
  /** After which steps the projector has folded what there was, and on which day it is then. */
  folds: fc.array(fc.record({ after: fc.nat(14), day: fc.nat(DAYS) }), { maxLength: 4 }),
  lastDay: fc.integer({ min: 0, max: DAYS + 1 }),
  /** Counted on while withdrawals are folded, or read to the end first, as a rebuild is. */
  isLive: fc.boolean(),
});
type Life = typeof lives extends fc.Arbitrary<infer T> ? T : never;
type Click = LinkClicked["data"] & { position: Position };

/** Commits as often as it can, so that withdrawals meet clicks in the making. */
const hasty = { ...clickGroup, commitMs: { least: 2, most: 10 } };

describe("tables of clicks and the summaries of closed days", () => {
  it("are what a plain fold of the log gives, live as rebuilt, for any batches and crashes", {
    timeout: 240_000,
  }, async () => {
    await fc.assert(fc.asyncProperty(lives, expectPlainFold), {
      ...{ numRuns: effort(25, 120), interruptAfterTimeLimit: 120_000 },
    });
  });
});

async function expectPlainFold(life: Life): Promise<void> {
  const stores = await openStores();
  const rebuilt = await openStores();
  try {
    await live(life, stores);
    const { eventStore } = stores;
    const clock = () => clockOf(life.lastDay);
    await foldGroups({ eventStore, readStore: rebuilt.readStore, clock }, [clickGroup]);
    for (const { readStore } of [stores, rebuilt]) {
      await expectRows(eventStore, readStore);
      await expectTotals(eventStore, readStore);
      await expectSummaries(eventStore, readStore, life.lastDay);
    }
    for (const name of [
      ...["open-days", "link-totals", "link-days", "quiet-links", "account-days", "link-life"],
    ])
      expect([name, await fieldsOf(stores.readStore, name, stores)]).toEqual([
        name,
        await fieldsOf(rebuilt.readStore, name, rebuilt),
      ]);
  } finally {
    await stores.close();
    await rebuilt.close();
  }
}

/** A few minutes after the day has begun. */
function clockOf(day: number): Date {
  return new Date(START + day * DAY_MS + 300_000);
}

async function live(life: Life, { eventStore, readStore }: { eventStore: EventStore; readStore: ReadStore }) {
  const failing = failingReadStore(readStore, life.breaks, life);
  const unruly = unrulyEventStore(eventStore, life.sizes, 7);
  const fold = async (day: number, isLive: boolean) => {
    // Each time without the memory of before, as in a new process.
    for (let crashes = 0; crashes <= life.breaks.length; crashes += 1) {
      const folding = { eventStore: unruly, readStore: failing, clock: () => clockOf(day) };
      const fold = isLive ? foldLive(folding, hasty) : foldGroups(folding, [clickGroup]);
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
      for (let at = 0; at < events.length; at += 300)
        await append(eventStore, `clicks-w${n % 3}-20260301`, events.slice(at, at + 300));
    } else if ("restores" in one) {
      const number = one.restores % Math.max(1, made.length);
      const of = made[number];
      if (of && !restored.has(number))
        await append(eventStore, withdrawalStream(of.link), [clicksRestored(of, number)]);
      restored.add(number);
    } else {
      const [from, to] = [...(one.times ?? [])].sort();
      const times = from !== undefined && to !== undefined ? { from, to } : {};
      const stored = await loggedEvents(eventStore, { categories: ["link", "clicks"], limit: 20_000 });
      const upTo = stored[Math.floor(one.counted * (stored.length - 1))]?.position ?? "";
      const event = clicksWithdrawn(one.of, made.length, { ...times, ...one.filter, upTo });
      await append(eventStore, withdrawalStream(one.of.link), [event]);
      made.push(one.of);
    }
    for (const { after, day } of life.folds)
      if (after === n) await fold(Math.min(day, life.lastDay), life.isLive);
  }
  if (life.isLive) await fold(life.lastDay, true);
  await fold(life.lastDay, false);
}

async function clicksOf(eventStore: EventStore) {
  const recorded = await loggedEvents(eventStore, { categories: ["clicks"], limit: 20_000 });
  const isWithdrawn = await withdrawnOfAll({ eventStore });
  const all = recorded.map((one) => {
    const data = readEvent(one).data as LinkClicked["data"];
    return { ...data, position: one.position };
  });
  return { all, counting: all.filter((one) => !isWithdrawn(one)), isWithdrawn };
}

/** Each click is one row, with what it counts as, in its day's table. */
async function expectRows(eventStore: EventStore, readStore: ReadStore): Promise<void> {
  const { all, isWithdrawn } = await clicksOf(eventStore);
  const tables = Map.groupBy(
    await documents<ChunkDocument>(readStore, "click-tables"),
    ({ accountId, day }) => `${accountId} ${day}`,
  );
  const rows: unknown[] = [];
  for (const [table, chunks] of tables)
    for (const { chunk, from, to } of rowsOfTable(chunks.map(decodeChunk)))
      for (let row = from; row < to; row++)
        rows.push([
          positionOfRow(chunk, row),
          table,
          new Date(chunk.at[row] as number).toISOString(),
          COLUMNS.map((name) => {
            const { values, rows } = chunk.columns[name];
            return values[rows[row] as number];
          }),
          chunk.marks.some((mark) => mark.until === "" && mark.rows.includes(row)),
        ]);
  const expected = all.map((one) => [
    ...[one.position, `${one.accountId} ${one.at.slice(0, 10)}`, one.at, textsOf(one), isWithdrawn(one)],
  ]);
  expect(sorted(rows)).toEqual(sorted(expected));
}

async function expectTotals(eventStore: EventStore, readStore: ReadStore): Promise<void> {
  const { all, counting } = await clicksOf(eventStore);
  const stored = await documents(readStore, "link-totals");
  expect(stored.map(({ _id }) => _id)).toEqual([...new Set(all.map(({ link }) => link))].sort());
  for (const { _id, _position, ...totals } of stored) {
    const hits = counting.filter(({ link }) => link === _id);
    const people = hits.filter(({ kind }) => kind !== "preview");
    const date =
      hits
        .map(({ at }) => at.slice(0, 10))
        .sort()
        .at(-1) ?? "";
    const lastDays = Array.from({ length: 14 }, (_, n) => {
      const day = date && new Date(Date.parse(date) - n * DAY_MS).toISOString().slice(0, 10);
      return people.filter(({ at }) => at.startsWith(day || "none")).length;
    });
    while (lastDays.at(-1) === 0) lastDays.pop();
    const { firstAt, lastAt } = timesOf(hits);
    expect(totals).toEqual({
      accountId: all.find(({ link }) => link === _id)?.accountId,
      totalClicks: hits.length,
      people: people.length,
      ...Object.fromEntries(
        CLICK_KINDS.map((kind) => [kind, hits.filter((hit) => hit.kind === kind).length]),
      ),
      ...{ firstAt, lastAt, date, lastDays },
    });
  }
}

/** Every day that is over is closed, of the account and of each link, and each link's life is the sum of them. */
async function expectSummaries(eventStore: EventStore, readStore: ReadStore, today: number): Promise<void> {
  const { all, counting } = await clicksOf(eventStore);
  const end = clockOf(today).toISOString().slice(0, 10);
  const closed = (one: Click) => one.at < end;
  const open = new Set(
    all.filter((one) => !closed(one)).map((one) => `${one.at.slice(0, 10)}/${one.accountId}`),
  );
  expect((await documents(readStore, "open-days")).map(({ _id }) => _id)).toEqual([...open].sort());
  for (const [name, subjectOf] of [
    ["link-days", (one: Click) => one.link],
    ["account-days", (one: Click) => one.accountId],
  ] as const) {
    const idOf = (one: Click) => `${subjectOf(one)}@${one.at.slice(0, 10)}`;
    const byId = Map.groupBy(all.filter(closed), idOf);
    const countingById = Map.groupBy(counting.filter(closed), idOf);
    const read =
      name === "link-days" ? linkDays(readStore) : documents<Document & DaySummary>(readStore, name);
    const stored = (await read).filter(({ day }) => day < end);
    expect(stored.map(({ _id }) => _id)).toEqual([...byId.keys()].sort());
    for (const summary of stored) {
      const hits = countingById.get(summary._id) ?? [];
      expectTimes(summary, hits);
      if (name === "link-days") expectSummary(summary, hits);
      else expectAccountDay(summary as unknown as AccountDayDocument, hits);
    }
  }
  const lives = await documents<
    Document & { lastDay: string; recent: { position: string }[] } & Pick<DaySummary, "kinds">
  >(readStore, "link-life");
  const linksOfDays = new Set(all.filter(closed).map(({ link }) => link));
  expect(lives.filter(({ lastDay }) => lastDay < end).map(({ _id }) => _id)).toEqual([...linksOfDays].sort());
  for (const life of lives) {
    if (life.lastDay >= end) continue;
    const hits = counting.filter((one) => one.link === life._id && closed(one));
    expect(life).toMatchObject({ ...timesOf(hits), ...countsOf(hits) });
    expectKinds(life.kinds, hits);
    const latest = hits.sort((a, b) => (`${a.at} ${a.position}` > `${b.at} ${b.position}` ? -1 : 1));
    expect(life.recent.map(({ position }) => position)).toEqual(
      latest.slice(0, 10).map(({ position }) => position),
    );
  }
}

/** As they are read, also of links with few hits. */
async function linkDays(readStore: ReadStore): Promise<(Document & DaySummary)[]> {
  const days: (Document & DaySummary)[] = [];
  for (const { link, accountId } of LINKS)
    for await (const day of closedDays(readStore, accountId)) {
      const ofLink = await linkDayOf(readStore, day, link);
      if (ofLink) days.push(ofLink);
    }
  return days.sort((a, b) => (a._id < b._id ? -1 : 1));
}

/** Of a link, or of an account. */
function expectTimes(summary: Pick<DaySummary, "quarters" | "visitors">, hits: Click[]): void {
  const quarters = new Map<number, number[]>();
  for (const { at, kind } of hits) {
    const quarter = Math.floor((Date.parse(at) % DAY_MS) / 900_000);
    const counts = quarters.get(quarter) ?? [quarter, 0, 0, 0];
    const column = CLICK_KINDS.indexOf(kind) + 1;
    counts[column] = (counts[column] ?? 0) + 1;
    quarters.set(quarter, counts);
  }
  expect(summary.quarters).toEqual([...quarters.values()].sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0)));
  expect(summary.visitors).toEqual(patternsOf(hits, ({ kind }) => CLICK_KINDS.indexOf(kind)));
}

function expectSummary(summary: DaySummary, hits: Click[]): void {
  expect(summary).toMatchObject(timesOf(hits));
  expectKinds(summary.kinds, hits);
  for (const kind of CLICK_KINDS) {
    const ofKind = hits.filter((hit) => hit.kind === kind);
    const counted = summary.kinds[kind];
    expectTally(
      counted?.regions,
      ofKind.map((hit) => placeName(hit.region, hit.country)),
    );
    expectTally(
      counted?.languages,
      ofKind.map((hit) => hit.language ?? "unknown"),
    );
  }
}

function expectAccountDay({ hours, values }: AccountDayDocument, hits: Click[]): void {
  const people = hits.filter(({ kind }) => kind !== "preview");
  expect(hours).toEqual(patternsOf(people, ({ at }) => Number(at.slice(11, 13))));
  for (const field of SUMMED_FIELDS) {
    const textOf = (hit: Click) =>
      field === "domain" ? hit.link.split("/")[0] : textsOf(hit)[COLUMNS.indexOf(field)];
    const expected = Map.groupBy(hits, textOf);
    expected.delete("");
    const list = values[field] ?? [];
    const rows = Array.from({ length: list.length / VALUE_MEMBERS }, (_, n) =>
      list.slice(n * VALUE_MEMBERS, (n + 1) * VALUE_MEMBERS),
    );
    const ofHits = [...expected].map(([value, of]) => [
      value,
      ...CLICK_KINDS.map((kind) => of.filter((hit) => hit.kind === kind).length),
      new Set(of.filter(({ kind }) => kind !== "preview").map(codeOf)).size,
    ]);
    expect(sorted(rows)).toEqual(sorted(ofHits));
  }
}

/** Of what isn't known by whom it was done. */
const UNKNOWN_BIT = 1 << 24;

/** How many visitors did just this. */
function patternsOf(hits: readonly Click[], bitOf: (hit: Click) => number): Patterns {
  const did = new Map<string, number>();
  for (const hit of hits) did.set(codeOf(hit), (did.get(codeOf(hit)) ?? 0) | (1 << bitOf(hit)));
  const unknown = did.get("");
  if (unknown !== undefined) did.set("", unknown | UNKNOWN_BIT);
  const counts = Map.groupBy(did.values(), (pattern) => pattern);
  return [...counts].sort(([a], [b]) => a - b).flatMap(([pattern, all]) => [pattern, all.length]);
}

function codeOf({ accountVisitor, visitor = "" }: Click): string {
  return shortCode(accountVisitor ?? visitor);
}

function expectKinds(kinds: { [K in (typeof CLICK_KINDS)[number]]?: Breakdown }, hits: Click[]): void {
  for (const kind of CLICK_KINDS) {
    const ofKind = hits.filter((hit) => hit.kind === kind);
    const breakdown = kinds[kind];
    expect(breakdown === undefined).toBe(ofKind.length === 0);
    const values = [
      (hit: Click) => hit.device,
      (hit: Click) => hit.country ?? "unknown",
      (hit: Click) => placeName(hit.city, hit.country),
      (hit: Click) => hit.browser?.name ?? "unknown",
      (hit: Click) => hit.os?.name ?? "unknown",
      (hit: Click) => referrerHostOf(hit.referrer),
    ];
    for (const [n, read] of values.entries()) expectTally(breakdown?.tallies[n], ofKind.map(read));
    for (const field of UTM_FIELDS)
      expectTally(
        breakdown?.utm?.[field],
        ofKind.flatMap((hit) => hit.utm?.[field] ?? []),
      );
    expectTally(
      breakdown?.rules,
      ofKind.flatMap((hit) =>
        hit.rule === undefined ? [] : ruleHit(hit.rule, shortDestination(hit.longUrl)),
      ),
    );
  }
}

/** Of a tally that was cut, only the sum doesn't depend on the order of the clicks. */
function expectTally(tally: Tally = [], values: readonly string[]): void {
  const counts = valueCounts(tally);
  expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(values.length);
  if (counts.some(([cut]) => cut === null)) return;
  const expected = new Map<string | null, number>();
  for (const one of values) expected.set(one, (expected.get(one) ?? 0) + 1);
  expect(new Map(counts)).toEqual(expected);
}

function timesOf(hits: readonly Click[]) {
  const times = hits.map(({ at }) => at).sort();
  return { firstAt: times[0] ?? "", lastAt: times.at(-1) ?? "" };
}

function countsOf(hits: readonly Click[]) {
  return Object.fromEntries(
    CLICK_KINDS.map((kind) => [kind, hits.filter((hit) => hit.kind === kind).length]),
  );
}

/** Without what belongs to the fold; of summaries those of closed days, and lives without open ones. */
async function fieldsOf(readStore: ReadStore, name: string, _of: unknown): Promise<unknown[]> {
  const open = new Set(
    (await documents<Document & { day: string }>(readStore, "open-days")).map(({ day }) => day),
  );
  return (await documents<Document & { day?: string; lastDay?: string }>(readStore, name)).flatMap(
    ({ _position, ...fields }) => {
      if (name === "open-days") return fields._id;
      if (fields.lastDay !== undefined && [...open].some((day) => day <= (fields.lastDay ?? ""))) return [];
      return fields.day !== undefined && open.has(fields.day) ? [] : fields;
    },
  );
}

async function documents<D extends Document>(readStore: ReadStore, collection: string): Promise<D[]> {
  const found = await readStore.find<D>(collection, { limit: 100_000 });
  return found.sort((a, b) => (a._id < b._id ? -1 : 1));
}

function sorted(rows: unknown[]): unknown[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}
