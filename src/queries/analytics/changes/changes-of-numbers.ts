// Why a number changed: the hits of a link, or of an account, as they counted at two moments of the log, and every reason by
// which one became the other.
import { ALL_CATEGORIES } from "../../../events/streams.ts";
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import { queriedBuild } from "../../../projections/builds/builds.ts";
import { readBuilds } from "../../../projections/builds/builds-document.ts";
import {
  type DecodedChunk,
  holds,
  positionOfRow,
  rowsAsOf,
} from "../../../projections/definitions/click-tables/decode-chunk.ts";
import { clicks as clickGroup } from "../../../projections/groups.ts";
import { utcDate } from "../../../runtime/moment.ts";
import { Refused } from "../../../runtime/refused.ts";
import { type SliceWork, type TimeSlices, timeSlices } from "../../../runtime/threads/time-slices.ts";
import { type EventStore, type Position, START } from "../../../stores/event-store/port.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { MOST_READ } from "../counting/count-days.ts";
import type { KindCounts } from "../counting/count-rows.ts";
import { noTags } from "../counting/link-tags.ts";
import { clicksAt } from "../counting/list-rows.ts";
import { selectRows } from "../counting/select-rows.ts";
import { noHits } from "../counting/sum-days.ts";
import { rowsIn, type TableReader, withPresentChunks } from "../counting/table-reader.ts";
import { positionAt } from "../log-positions.ts";
import type { RangeRequest } from "../range.ts";
import { UTC } from "../time-zone.ts";
import { type MadeWithdrawal, madeWithdrawals, rulesHistory } from "./corrections.ts";

/** `counted`: as of whenCounted. */
type Deps = {
  eventStore: EventStore;
  readStore: ReadStore;
  reader: TableReader;
  counted: (position: Position) => Promise<void>;
  slices?: SliceWork;
};

type Moment = NonNullable<RangeRequest["asOf"]>;

/**
 * `link`: its key; undefined for all of the account. [from, to) in milliseconds: when the hits happened. `until`: by default
 * the end of the log.
 */
export type ChangesRequest = {
  accountId: string;
  link?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
  since: Moment;
  until?: Moment | undefined;
};

export const REASONS = ["added", "counted_late", "restored", "withdrawn", "reclassified"] as const;

/**
 * `hits`: what it added or, below zero, took away. `withdrawal`: that took them out, or whose end brought them back.
 * `kinds`: as what they counted before and after, under which rules; null for those that they were recorded under.
 */
export type NumberChange = {
  reason: (typeof REASONS)[number];
  hits: KindCounts;
  withdrawal?: MadeWithdrawal | undefined;
  kinds?: { from: ClickKind; to: ClickKind; rules: { from: string | null; to: string | null } } | undefined;
};

/** `time`: asked for, or when the event at the position was recorded, ISO 8601 UTC; null before the first one. */
type MomentOfLog = { position: Position; time: string | null };

/** `before` and all `changes` together are `after`. */
export type ChangesOfNumbers = {
  since: MomentOfLog;
  until: MomentOfLog;
  before: KindCounts;
  after: KindCounts;
  changes: NumberChange[];
};

/** For the reader thread. @throws invalid_range, range_too_large, ProjectionNotBuilt, EventNewer, what the stores throw */
export async function changesOfNumbers(
  deps: Deps,
  request: ChangesRequest,
  signal?: AbortSignal,
): Promise<ChangesOfNumbers> {
  const { accountId, link } = request;
  const { slices: sliced = timeSlices } = deps;
  const slices = sliced(signal);
  const since = await momentOf(deps, request.since, slices);
  const until = await momentOf(deps, request.until ?? { position: await deps.eventStore.head() }, slices);
  if (since.position > until.position) throw new Refused("invalid_range", "since must be before until");
  await deps.counted(until.position);
  const rulesAt = await rulesHistory(deps);
  const rules = { from: rulesAt(since.position), to: rulesAt(until.position) };
  const made = await madeWithdrawals(deps, accountId, link);
  const between = { since, until, rules, made };
  return await withPresentChunks(() => changesInTables(deps, request, between, slices));
}

type Between = {
  since: MomentOfLog;
  until: MomentOfLog;
  rules: { from: string | undefined; to: string | undefined };
  made: ReadonlyMap<string, MadeWithdrawal>;
};

async function changesInTables(
  deps: Deps,
  { accountId, link, from, to }: ChangesRequest,
  { since, until, rules, made }: Between,
  slices: TimeSlices,
): Promise<ChangesOfNumbers> {
  const { reader, readStore } = deps;
  const numbers = { since, until, before: noHits(), after: noHits() };
  const changes = new Map<string, NumberChange>();
  const note = (change: Omit<NumberChange, "hits">, kind: ClickKind, hits: 1 | -1) => {
    const { reason, withdrawal, kinds } = change;
    const key = [reason, withdrawal?.id, kinds?.from, kinds?.to].join(" ");
    const known = changes.get(key) ?? { ...change, hits: noHits() };
    known.hits[kind] += hits;
    changes.set(key, known);
  };
  const sinceTime = since.time === null ? Number.NEGATIVE_INFINITY : Date.parse(since.time);
  const build = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup));
  const [first, last] = [from, to].map((time) => (time === undefined ? undefined : utcDate(new Date(time))));
  const days = await reader.days(accountId, first, last);
  if (days.reduce((rows, day) => rows + rowsIn(day), 0) > MOST_READ) throw new Refused("range_too_large");
  const filter = {
    from: from ?? Number.NEGATIVE_INFINITY,
    to: to ?? Number.POSITIVE_INFINITY,
    ...{ kinds: CLICK_KINDS, filters: link === undefined ? {} : { link: [link] }, zone: UTC },
    // Withdrawn ones, too.
    asOf: "",
  };
  for (const day of days)
    for await (const table of reader.tables(day.heads, until.position, slices)) {
      const { chunk } = table;
      const known = rowsAsOf(chunk, since.position);
      const rows = selectRows(table, filter, noTags);
      const [out, outNow] = [since, until].map(({ position }) => withdrawnBy(chunk, position));
      const kindsBy = async (by: string | undefined) =>
        await kindsUnder(deps, chunk, rows, by, build?.rules, slices);
      const [were, are] = [await kindsBy(rules.from), await kindsBy(rules.to)];
      for (const [n, row] of rows.entries()) {
        const [before, now] = [out?.get(row), outNow?.get(row)].map((id) => id && made.get(id));
        const [was, is] = [were[n], are[n]] as [ClickKind, ClickKind];
        const isNew = row >= known;
        const wasCounted = !isNew && !before;
        if (wasCounted) numbers.before[was] += 1;
        if (!now) numbers.after[is] += 1;
        if (wasCounted && now) note({ reason: "withdrawn", withdrawal: now }, was, -1);
        else if (isNew && !now)
          note({ reason: (chunk.at[row] as number) >= sinceTime ? "added" : "counted_late" }, is, 1);
        else if (before && !isNew && !now) note({ reason: "restored", withdrawal: before }, is, 1);
        else if (wasCounted && was !== is) {
          const kinds = { from: was, to: is, rules: { from: rules.from ?? null, to: rules.to ?? null } };
          note({ reason: "reclassified", kinds }, was, -1);
          note({ reason: "reclassified", kinds }, is, 1);
        }
      }
    }
  const sorted = [...changes.values()].sort((a, b) => REASONS.indexOf(a.reason) - REASONS.indexOf(b.reason));
  return { ...numbers, changes: sorted };
}

/** Of withdrawn rows the first withdrawal in force, as of the position. */
function withdrawnBy({ marks }: DecodedChunk, asOf: Position): Map<number, string> {
  const withdrawn = new Map<number, string>();
  const inOrder = marks.toSorted((a, b) => (a.from < b.from ? -1 : 1));
  for (const mark of inOrder)
    if (holds(mark, asOf))
      for (const row of mark.rows) if (!withdrawn.has(row)) withdrawn.set(row, mark.withdrawalId);
  return withdrawn;
}

/** Tables have the kinds under the build's rules, and those of recording; others are read from the log. */
async function kindsUnder(
  deps: Deps,
  chunk: DecodedChunk,
  rows: Uint32Array,
  rules: string | undefined,
  buildRules: string | undefined,
  slices: TimeSlices,
): Promise<ClickKind[]> {
  const { kind, judged } = chunk.columns;
  if (rules === undefined || rules === buildRules) {
    const { values, rows: codes } = rules === undefined ? kind : judged;
    return Array.from(rows, (row) => values[codes[row] as number] as ClickKind);
  }
  const kinds = new Map<Position, ClickKind>();
  const positions = Array.from(rows, (row) => positionOfRow(chunk, row));
  for await (const clicks of clicksAt(deps, positions, rules, slices))
    for (const { position, data } of clicks) kinds.set(position, data.kind);
  return Array.from(rows, (row, n) => {
    const recorded = kind.values[kind.rows[row] as number] as ClickKind;
    return kinds.get(positions[n] as Position) ?? recorded;
  });
}

/** As API, page and command answer it. */
export function changesRow({ since, until, before, after, changes }: ChangesOfNumbers) {
  return {
    since,
    until,
    before: withTotal(before),
    after: withTotal(after),
    changes: changes.map(({ reason, hits, withdrawal, kinds }) => ({
      reason,
      ...withTotal(hits),
      ...(withdrawal && {
        withdrawal: {
          withdrawal_id: withdrawal.id,
          link: withdrawal.link,
          reason: withdrawal.reason,
          withdrawn: { at: withdrawal.made.at, by: withdrawal.made.by },
          restored: withdrawal.ended ? { at: withdrawal.ended.at, by: withdrawal.ended.by } : null,
        },
      }),
      ...(kinds && { from_kind: kinds.from, to_kind: kinds.to, rules: kinds.rules }),
    })),
  };
}

function withTotal(hits: KindCounts) {
  return { total: CLICK_KINDS.reduce((sum, kind) => sum + hits[kind], 0), ...hits };
}

async function momentOf(deps: Deps, moment: Moment, slices: TimeSlices): Promise<MomentOfLog> {
  const { eventStore, readStore } = deps;
  if ("time" in moment) {
    const time = new Date(moment.time).toISOString();
    return { position: await positionAt({ eventStore, readStore }, time, slices), time };
  }
  const { position } = moment;
  if (position === START) return { position, time: null };
  const [event] = (await eventStore.readAll({ from: position, categories: ALL_CATEGORIES, limit: 1 })).events;
  return { position, time: event?.recordedAt ?? null };
}
