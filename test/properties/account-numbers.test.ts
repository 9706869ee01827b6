// For any clicks and withdrawals of an account: every number that is asked for in any way is that of the clicks that are left.

import { hash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { readEvent } from "../../src/events/read-event.ts";
import { linkStream, withdrawalStream } from "../../src/events/streams.ts";
import { CLICK_KINDS } from "../../src/events/vocabulary.ts";
import { withdrawnOfAll } from "../../src/projections/fold/read-withdrawals.ts";
import { lifecycle } from "../../src/projections/groups.ts";
import { tableReader } from "../../src/queries/analytics/counting/table-reader.ts";
import {
  COMPARISONS,
  GROUPS,
  type GroupBy,
  type Point,
  type Totals,
} from "../../src/queries/analytics/question.ts";
import { START as LOG_START, type Position } from "../../src/stores/event-store/port.ts";
import { clickFile, clickPage } from "../../src/transfer/export/account-clicks.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { ACCOUNT, linkClicked, linkCreated, OTHER_ACCOUNT } from "../support/event-store/stored-events.ts";
import { accountQuestionsOf } from "../support/projections/account-questions.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import { foldTables } from "../support/projections/fold-tables.ts";
import { clicksRestored, clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";

type Click = LinkClicked["data"];
type Counted = Click & { id: string };
type Tagged = Record<string, readonly string[]>;

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
/** Two days before clocks are set in Europe, some weeks after or a week before they are in North America. */
const STARTS = ["2026-03-27T00:00:00.000Z", "2026-10-23T00:00:00.000Z"];
const DAYS = 5;
/** Happened before, and are recorded late, some between the two times at which clocks are set. */
const LATE_DAYS = 40;
const ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Kiritimati"];
/** Without visitors' addresses. */
const IMPORTED = "go.example/l2";
const TAGS: Tagged = { "sho.rt/l0": ["sale", "mail"], "sho.rt/l1": ["sale", "other"], [IMPORTED]: [] };
const LINKS = Object.keys(TAGS);
const OF_OTHERS = { link: "sho.rt/other", accountId: OTHER_ACCOUNT };

const chosen = fc.gen().map((g) => (size: number) => g(fc.nat, size - 1));
const lives = fc.record({
  start: fc.constantFrom(...STARTS).map((start) => Date.parse(start)),
  count: fc.integer({ min: effort(200, 1_000), max: effort(500, 4_000) }),
  pick: chosen,
  withdrawals: fc.nat(4),
});

describe("numbers of an account", () => {
  it("are those of its clicks that count, by every group and filter, in zones whose clocks are set", {
    timeout: 300_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(lives, async ({ start, count, pick, withdrawals }) => {
        const stores = await openStores();
        try {
          await happen(stores, start, count, pick, withdrawals);
          const now = new Date(start + 6.5 * DAY_MS);
          const ask = accountQuestionsOf(stores, now);
          const { eventStore } = stores;
          const log = await loggedEvents(eventStore, {
            categories: ["clicks", "withdrawals"],
            limit: 100_000,
          });
          for (let n = 0; n < effort(12, 8); n++) {
            const asOf = pick(3) === 0 ? log[pick(log.length)]?.position : undefined;
            const of = { ...questionOf(pick, start, n % 4 === 1), asOf };
            const clicks = await counting(stores, asOf);
            const answer = await ask(of);
            const within = (from: number, to: number) =>
              clicks.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) < to);
            const wanted = (all: readonly Counted[]) =>
              all.filter((click) =>
                Object.entries(of.filters).every(([field, values]) =>
                  valuesOf(field as GroupBy, click, of.zone).some((value) => values.includes(value)),
                ),
              );
            const period = wanted(within(answer.from, answer.to));
            expectTotals(answer.totals, period);
            expectPoints(answer.series, answer.to, period);
            expect(sum(answer.series)).toEqual(countsOf(answer.totals));
            const { previous } = answer;
            if (previous) {
              expectTotals(previous.totals, wanted(within(previous.from, previous.to)));
              expectPoints(previous.series, previous.to, wanted(within(previous.from, previous.to)));
            }
            for (const field of of.groupBy) {
              const values = new Map<string, Click[]>();
              for (const click of period)
                for (const value of valuesOf(field, click, of.zone)) {
                  const same = values.get(value);
                  if (same) same.push(click);
                  else values.set(value, [click]);
                }
              const { rows, other } = answer.groups[field] ?? { rows: [], other: undefined };
              const limit = field === "weekday_hour" ? 168 : of.limit;
              expect(rows.map(({ value }) => value)).toEqual(ranked(values).slice(0, limit));
              for (const row of rows) expectTotals(row, values.get(row.value) ?? []);
              const rest = ranked(values).slice(limit);
              expect(other && countsOf(other)).toEqual(
                rest.length > 0 ? counted(rest.flatMap((value) => values.get(value) ?? [])) : undefined,
              );
            }
            expect(await pagesOf(stores, of, answer)).toEqual(idsOf(period));
            if (asOf === undefined) expect(await fileOf(stores, of, answer)).toEqual(idsOf(period));
          }
        } finally {
          await stores.close();
        }
      }),
      { numRuns: effort(4, 6), interruptAfterTimeLimit: effort(60_000, 150_000) },
    );
  });
});

type Pick = (size: number) => number;

async function happen(stores: Stores, start: number, count: number, pick: Pick, withdrawals: number) {
  const { eventStore } = stores;
  const isFolded = pick(2) === 0;
  for (const [link, tags] of Object.entries(TAGS)) {
    const [host = "", slug = ""] = link.split("/");
    await append(eventStore, linkStream(host, slug), [linkCreated({ host, slug, tags: [...tags] })]);
  }
  const parts = withdrawals + 1;
  for (let part = 0; part < parts; part++) {
    const events = Array.from({ length: Math.ceil(count / parts) }, () => linkClicked(clickOf(pick, start)));
    await append(eventStore, `clicks-w${part % 2}-20260327`, events);
    if (part === withdrawals) break;
    const link = LINKS[pick(LINKS.length)] ?? "";
    const from = start + (pick(DAYS + 2) - 2) * DAY_MS;
    const iso = (ms: number) => new Date(ms).toISOString();
    const selection = { from: iso(from), to: iso(from + DAY_MS / 2) };
    await append(eventStore, withdrawalStream(link), [clicksWithdrawn({ link }, part, selection)]);
    if (pick(4) === 0) await append(eventStore, withdrawalStream(link), [clicksRestored({ link }, part)]);
    if (isFolded && pick(2) === 0) await foldGroups(stores);
  }
  if (isFolded) return await foldGroups(stores);
  await foldGroups(stores, [lifecycle]);
  await foldTables(stores, pick);
}

function clickOf(pick: Pick, start: number): Partial<Click> {
  const of = <T>(...values: T[]) => values[pick(values.length)] as T;
  // A link has one owner.
  const link = of(...LINKS.map((key) => ({ link: key, accountId: ACCOUNT })), OF_OTHERS);
  const days = pick(20) === 0 ? -LATE_DAYS : DAYS;
  const at =
    start +
    Math.trunc((days * pick(1_000) * DAY_MS) / 1_000 / QUARTER_MS) * QUARTER_MS +
    of(0, 1, QUARTER_MS - 1);
  const day = Math.floor(at / DAY_MS);
  const visitor = `${day} ${pick(300)}`;
  const utm = of(
    undefined,
    { source: "mail" },
    { source: "other" },
    { source: "ad", campaign: "spring", medium: "cpc" },
  );
  const place = of(
    { country: "DE", region: "Berlin", city: "Berlin" },
    { country: "US", region: "Hawaii", city: "Berlin" },
    { country: undefined, region: undefined, city: undefined },
  );
  return {
    ...link,
    at: new Date(at).toISOString(),
    kind: of(...CLICK_KINDS),
    device: of("mobile", "desktop", "bot"),
    browser: of(undefined, { name: "Firefox" }, { name: "__proto__" }),
    os: of(undefined, { name: "iOS" }),
    language: of(undefined, "de", "fr"),
    referrer: of(undefined, "https://www.example.org/a", "https://example.com/b"),
    rule: of(undefined, "none", "a1"),
    visitor: link.link === IMPORTED ? undefined : codeOf(`link ${visitor}`),
    accountVisitor: link.link === IMPORTED ? undefined : codeOf(`account ${visitor}`),
    ...place,
    utm,
  } as Partial<Click>;
}

function codeOf(visitor: string): string {
  return hash("sha256", visitor).slice(0, 16);
}

type Asked = ReturnType<typeof questionOf> & { asOf: Position | undefined };
type Range = { from: number; to: number };

function idsOf(clicks: readonly Counted[]): string[] {
  return clicks.map(({ id }) => id);
}

function clicksAsked({ filters, zone }: Asked, { from, to }: Range) {
  return { accountId: ACCOUNT, filters, kinds: CLICK_KINDS, zone, from, to };
}

async function pagesOf(opened: Stores, of: Asked, range: Range): Promise<string[]> {
  const ids: string[] = [];
  const stores = { ...opened, reader: tableReader(opened) };
  const place = of.asOf === undefined ? undefined : { after: LOG_START, upTo: of.asOf };
  let page = await clickPage(stores, clicksAsked(of, range), place, 970);
  for (;;) {
    ids.push(...page.clicks.map(({ event_id: id = "" }) => id));
    if (!page.next) return ids;
    page = await clickPage(stores, clicksAsked(of, range), page.next, 970);
  }
}

async function fileOf(opened: Stores, of: Asked, range: Range): Promise<string[]> {
  const stores = { ...opened, reader: tableReader(opened) };
  const parts = await Array.fromAsync(
    clickFile(stores, clicksAsked(of, range), { format: "ndjson", columns: "of account" }),
  );
  const lines = parts
    .join("")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line).event_id);
}

/** In the order of the log. */
async function counting({ eventStore }: Stores, asOf: Position | undefined): Promise<Counted[]> {
  const isWithdrawn = await withdrawnOfAll({ eventStore }, asOf);
  const recorded = await loggedEvents(eventStore, { categories: ["clicks"], limit: 100_000 });
  return recorded.flatMap((one) => {
    const event = readEvent(one);
    if (event.type !== "LinkClicked" || event.data.accountId !== ACCOUNT) return [];
    if (asOf !== undefined && event.position > asOf) return [];
    return isWithdrawn({ ...event.data, position: event.position }) ? [] : [{ ...event.data, id: event.id }];
  });
}

function questionOf(pick: Pick, start: number, isOfAll: boolean) {
  const zone = ZONES[pick(ZONES.length)] ?? "UTC";
  const isCut = pick(3) > 0;
  const from = start + pick(3 * DAY_MS);
  const to = from + (pick(3) === 0 ? 1 + pick(6 * QUARTER_MS) : DAY_MS + pick(2 * DAY_MS));
  const fields =
    isOfAll || pick(2) === 0
      ? []
      : (["link", "tag", "domain", "country", "city", "kind", "day", "weekday"] as const).filter(
          () => pick(8) === 0,
        );
  const filterOf: Record<string, readonly string[]> = {
    link: [LINKS[pick(LINKS.length)] ?? ""],
    tag: ["mail", "nobody's"],
    domain: ["sho.rt"],
    country: ["DE", "unknown"],
    city: ["Berlin, US"],
    kind: ["click", "preview"],
    day: ["2026-03-29", "2026-03-30", "2026-10-25"],
    weekday: ["7"],
  };
  return {
    zone,
    groupBy: GROUPS.filter(() => pick(4) === 0),
    filters: Object.fromEntries(fields.map((field) => [field, filterOf[field] ?? []])) as Partial<
      Record<GroupBy, readonly string[]>
    >,
    ...(isCut && { from, to }),
    interval: (["hour", "day", "week"] as const)[pick(3)],
    compare: pick(2) === 0 ? COMPARISONS[pick(4)] : undefined,
    limit: 1 + pick(6),
  };
}

/** Written anew, not by the code under test. */
function valuesOf(field: GroupBy, click: Click, zone: string): readonly string[] {
  const { link, country, region, city, utm = {} } = click;
  const place = (name: string | undefined) =>
    name === undefined ? "unknown" : [name, ...(country ? [country] : [])].join(", ");
  const local = (options: Intl.DateTimeFormatOptions) => formatOf(zone, options).format(new Date(click.at));
  switch (field) {
    case "link":
      return [link];
    case "tag":
      return TAGS[link] ?? [];
    case "domain":
      return [link.split("/")[0] ?? ""];
    case "country":
      return [country ?? "unknown"];
    case "region":
      return [place(region)];
    case "city":
      return [place(city)];
    case "referrer":
      return [click.referrer ? new URL(click.referrer).hostname.replace("www.", "") : "direct"];
    case "device":
    case "kind":
      return [click[field]];
    case "browser":
    case "os":
      return [click[field]?.name ?? "unknown"];
    case "language":
      return [click.language ?? "unknown"];
    case "rule":
      return click.rule ? [click.rule] : [];
    case "hour":
      return [local({ hour: "2-digit" })];
    case "day":
      return [local({ dateStyle: "short" })];
    case "weekday":
    case "weekday_hour": {
      const day = new Date(`${local({ dateStyle: "short" })}T00:00:00Z`).getUTCDay() || 7;
      return [field === "weekday" ? String(day) : `${day}-${local({ hour: "2-digit" })}`];
    }
    default: {
      const value = utm[field.slice("utm_".length) as keyof typeof utm];
      return value ? [value] : [];
    }
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = `${zone} ${JSON.stringify(options)}`;
  const format = formats.get(name) ?? new Intl.DateTimeFormat("sv-SE", { timeZone: zone, ...options });
  formats.set(name, format);
  return format;
}

function countsOf({ click, preview, qr_scan, people }: Totals) {
  return { click, preview, qr_scan, people };
}

function counted(clicks: readonly Click[]) {
  const of = (kind: string) => clicks.filter((click) => click.kind === kind).length;
  return {
    click: of("click"),
    preview: of("preview"),
    qr_scan: of("qr_scan"),
    people: of("click") + of("qr_scan"),
  };
}

function sum(points: readonly Totals[]) {
  const none = { click: 0, preview: 0, qr_scan: 0, people: 0 };
  return points.reduce(
    (all, point) => ({
      click: all.click + point.click,
      preview: all.preview + point.preview,
      qr_scan: all.qr_scan + point.qr_scan,
      people: all.people + point.people,
    }),
    none,
  );
}

/** Visitors: who made them; null where it isn't known of one of them. */
function expectTotals(totals: Totals, clicks: readonly Click[]): void {
  expect(countsOf(totals)).toEqual(counted(clicks));
  const people = clicks.filter(({ kind }) => kind !== "preview");
  const visitors = new Set(people.map(({ accountVisitor }) => accountVisitor));
  expect(totals.visitors).toBe(visitors.has(undefined) ? null : visitors.size);
}

/** Each point has the numbers of a question about its own time, visitors too. */
function expectPoints(series: readonly Point[], to: number, clicks: readonly Click[]): void {
  for (const [n, { start, ...totals }] of series.entries()) {
    const end = series[n + 1]?.start ?? to;
    expectTotals(
      totals,
      clicks.filter(({ at }) => Date.parse(at) >= start && Date.parse(at) < end),
    );
  }
}

function ranked(values: ReadonlyMap<string, readonly Click[]>): string[] {
  const rows = [...values].map(([value, clicks]) => ({ value, ...counted(clicks), total: clicks.length }));
  rows.sort((a, b) => b.people - a.people || b.total - a.total || (a.value < b.value ? -1 : 1));
  return rows.map(({ value }) => value);
}
