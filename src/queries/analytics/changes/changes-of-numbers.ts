// Why a number changed: the hits of an account under any filters as they counted at two moments of the log, and all that happened
// to them in between, also where it cancels out.

import { Refused } from "../../../commands/refusals.ts";
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
import { type SliceWork, type TimeSlices, timeSlices } from "../../../runtime/threads/time-slices.ts";
import { type EventStore, type Position, START } from "../../../stores/event-store/port.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { MOST_READ } from "../counting/count-days.ts";
import type { KindCounts } from "../counting/count-rows.ts";
import { linkTags, noTags } from "../counting/link-tags.ts";
import { clicksAt } from "../counting/list-rows.ts";
import { selectRows } from "../counting/select-rows.ts";
import { noHits } from "../counting/sum-days.ts";
import { rowsIn, type TableReader, withPresentChunks } from "../counting/table-reader.ts";
import { positionAt } from "../log-positions.ts";
import type { Filters } from "../question.ts";
import type { RangeRequest } from "../range.ts";
import { dateOf, timeZone, UTC } from "../time-zone.ts";
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

/** `filters`: none for all of the account. [from, to) in milliseconds: when the hits happened. `until`: by default the end of the log. */
export type ChangesRequest = {
  accountId: string;
  filters: Filters;
  /** Of filters by local time; its name, by default UTC. */
  zone?: string | undefined;
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
  const { accountId, filters } = request;
  const { slices: sliced = timeSlices } = deps;
  const slices = sliced(signal);
  const since = await momentOf(deps, request.since, slices);
  const until = await momentOf(deps, request.until ?? { position: await deps.eventStore.head() }, slices);
  if (since.position > until.position) throw new Refused("invalid_range", "since must be before until");
  await deps.counted(until.position);
  const rulesAt = await rulesHistory(deps);
  const [link, ...others] = filters.link ?? [];
  const withdrawals = await madeWithdrawals(deps, accountId, others.length > 0 ? undefined : link);
  const between = { since, until, rulesAt, withdrawals };
  return await withPresentChunks(() => changesInTables(deps, request, between, slices));
}

type Between = {
  since: MomentOfLog;
  until: MomentOfLog;
  rulesAt: (position: Position) => string | undefined;
  withdrawals: ReadonlyMap<string, MadeWithdrawal>;
};

async function changesInTables(
  deps: Deps,
  { accountId, filters: { kind: wanted = CLICK_KINDS, ...filters }, zone, from, to }: ChangesRequest,
  { since, until, rulesAt, withdrawals }: Between,
  slices: TimeSlices,
): Promise<ChangesOfNumbers> {
  const { reader, readStore } = deps;
  const numbers = { since, until, before: noHits(), after: noHits() };
  const rules = { from: rulesAt(since.position), to: rulesAt(until.position) };
  const ofRules = { from: rules.from ?? null, to: rules.to ?? null };
  const tags = linkTags(readStore);
  const changes = new Map<string, NumberChange>();
  const note = (change: Omit<NumberChange, "hits">, kind: ClickKind, hits: 1 | -1) => {
    if (!wanted.includes(kind)) return;
    const { reason, withdrawal, kinds } = change;
    const key = [reason, withdrawal?.id, kinds?.from, kinds?.to].join(" ");
    const summed = changes.get(key) ?? { ...change, hits: noHits() };
    summed.hits[kind] += hits;
    changes.set(key, summed);
  };
  const sinceTime = since.time === null ? Number.NEGATIVE_INFINITY : Date.parse(since.time);
  const build = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup));
  const bounds = { from: from ?? Number.NEGATIVE_INFINITY, to: to ?? Number.POSITIVE_INFINITY };
  const days = await reader.days(accountId, dateOf(bounds.from), dateOf(bounds.to));
  if (days.reduce((rows, day) => rows + rowsIn(day), 0) > MOST_READ) throw new Refused("range_too_large");
  const filter = {
    ...bounds,
    ...{ kinds: CLICK_KINDS, filters, zone: timeZone(zone ?? "") ?? UTC },
    // Withdrawn ones, too.
    asOf: "",
  };
  for (const day of days)
    for await (const table of reader.tables(day.heads, until.position, slices)) {
      const { chunk } = table;
      const rowsBefore = rowsAsOf(chunk, since.position);
      const tagsOf = filters.tag ? await tags.ofLinksIn([table], slices) : noTags;
      const rows = selectRows(table, filter, tagsOf);
      const marks = marksOfRows(chunk, withdrawals);
      const kindsBy = async (by: string | undefined) =>
        await kindsUnder(deps, chunk, rows, by, build?.rules, slices);
      const [were, are] = [await kindsBy(rules.from), await kindsBy(rules.to)];
      for (const [n, row] of rows.entries()) {
        const [was, is] = [were[n], are[n]] as [ClickKind, ClickKind];
        const ofRow = marks.get(row) ?? [];
        const out = new Set(ofRow.filter((mark) => holds(mark, since.position)));
        const isNew = row >= rowsBefore;
        let isCounted = !isNew && out.size === 0;
        const isByOld = isNew ? rulesAt(positionOfRow(chunk, row)) !== rules.to : isCounted;
        const kind = isByOld ? was : is;
        if (isCounted) numbers.before[kind] += 1;
        if (isNew) {
          note({ reason: (chunk.at[row] as number) >= sinceTime ? "added" : "counted_late" }, kind, 1);
          isCounted = true;
        }
        for (const { mark, isEnd } of stepsOf(ofRow, since.position, until.position)) {
          if (isEnd) out.delete(mark);
          else out.add(mark);
          if (isCounted === (out.size === 0)) continue;
          isCounted = !isCounted;
          const reason = isCounted ? "restored" : "withdrawn";
          note({ reason, withdrawal: withdrawals.get(mark.withdrawalId) }, kind, isCounted ? 1 : -1);
        }
        if (!isCounted) continue;
        numbers.after[is] += 1;
        if (kind === is) continue;
        const kinds = { from: kind, to: is, rules: ofRules };
        note({ reason: "reclassified", kinds }, kind, -1);
        note({ reason: "reclassified", kinds }, is, 1);
      }
    }
  for (const kind of CLICK_KINDS)
    if (!wanted.includes(kind)) [numbers.before[kind], numbers.after[kind]] = [0, 0];
  const sorted = [...changes.values()].sort((a, b) => REASONS.indexOf(a.reason) - REASONS.indexOf(b.reason));
  return { ...numbers, changes: sorted };
}

type Mark = DecodedChunk["marks"][number];

/** Of each row that was ever withdrawn. */
function marksOfRows(
  { marks }: DecodedChunk,
  withdrawals: ReadonlyMap<string, MadeWithdrawal>,
): Map<number, Mark[]> {
  const ofRows = new Map<number, Mark[]>();
  for (const mark of marks)
    if (withdrawals.has(mark.withdrawalId))
      for (const row of mark.rows) ofRows.set(row, [...(ofRows.get(row) ?? []), mark]);
  return ofRows;
}

/** Beginnings and ends of withdrawals behind `since`, in their order. */
function stepsOf(marks: readonly Mark[], since: Position, until: Position): { mark: Mark; isEnd: boolean }[] {
  return marks
    .flatMap((mark) => [
      { mark, isEnd: false, position: mark.from },
      { mark, isEnd: true, position: mark.until },
    ])
    .filter(({ position }) => position > since && position <= until)
    .sort((a, b) => (a.position < b.position ? -1 : 1));
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
