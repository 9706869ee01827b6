// Why a number changed: the hits of a link, or of an account, as they counted at two moments of the log, and every reason by
// which one became the other.
import { reclassified } from "../../../events/classification/reclassify.ts";
import { ALL_CATEGORIES, accountStream, PREFIX } from "../../../events/streams.ts";
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import { type ClickEvent, linkOf, wantedClicks } from "../../../projections/fold/clicks-between.ts";
import { Refused } from "../../../runtime/refused.ts";
import { timeSlices } from "../../../runtime/threads/time-slices.ts";
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  START,
} from "../../../stores/event-store/port.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { ownerOf } from "../../feed/account-events.ts";
import { budget } from "../account/answer-from-log.ts";
import { type KindCounts, noHits } from "../account/sums.ts";
import { lastClickRecordedBy, positionAt, positionBefore } from "../log-positions.ts";
import type { RangeRequest } from "../range.ts";
import { isInForce, type MadeWithdrawal, madeWithdrawals, rulesHistory } from "./corrections.ts";

type Deps = {
  eventStore: EventStore;
  readStore: ReadStore;
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
  withdrawal?: Omit<MadeWithdrawal, "covers"> | undefined;
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

/** Reads the log, for the reader thread. @throws invalid_range, range_too_large, EventNewer, what the stores throw */
export async function changesOfNumbers(
  deps: Deps,
  request: ChangesRequest,
  signal?: AbortSignal,
): Promise<ChangesOfNumbers> {
  const { accountId, link, from, to } = request;
  const since = await momentOf(deps, request.since);
  const until = await momentOf(deps, request.until ?? { position: await deps.eventStore.head() });
  if (since.position > until.position) throw new Refused("invalid_range", "since must be before until");
  const rulesAt = await rulesHistory(deps);
  const rules = { from: rulesAt(since.position), to: rulesAt(until.position) };
  const made = await madeWithdrawals(deps, accountId, link);
  const numbers = { since, until, before: noHits(), after: noHits() };
  const changes = new Map<string, NumberChange>();
  const note = (change: Omit<NumberChange, "hits">, kind: ClickKind, hits: 1 | -1) => {
    const { reason, withdrawal, kinds } = change;
    const key = [reason, withdrawal?.id, kinds?.from, kinds?.to].join(" ");
    const known = changes.get(key) ?? { ...change, hits: noHits() };
    known.hits[kind] += hits;
    changes.set(key, known);
  };
  const take = (click: ClickEvent) => {
    const ofLink = made.get(click.data.link) ?? [];
    const hit = { ...click.data, position: click.position };
    const at = (position: Position) =>
      ofLink.find((withdrawal) => isInForce(withdrawal, position) && withdrawal.covers(hit));
    const [out, outNow] = [at(since.position), at(until.position)];
    const isNew = click.position > since.position;
    const wasCounted = !isNew && !out;
    const kindBy = (by: string | undefined) => (by === undefined ? click : reclassified(click, by)).data.kind;
    const [was, is] = [kindBy(rules.from), kindBy(rules.to)];
    if (wasCounted) numbers.before[was] += 1;
    if (!outNow) numbers.after[is] += 1;
    if (wasCounted && outNow) note({ reason: "withdrawn", withdrawal: shown(outNow) }, was, -1);
    else if (isNew && !outNow)
      note({ reason: since.time === null || click.data.at >= since.time ? "added" : "counted_late" }, is, 1);
    else if (out && !isNew && !outNow) note({ reason: "restored", withdrawal: shown(out) }, is, 1);
    else if (wasCounted && was !== is) {
      const by = { from: rules.from ?? null, to: rules.to ?? null };
      const kinds = { from: was, to: is, rules: by };
      note({ reason: "reclassified", kinds }, was, -1);
      note({ reason: "reclassified", kinds }, is, 1);
    }
  };
  const slices = timeSlices(signal);
  const countRead = budget();
  const [first, end] = [isoOf(from) ?? "", isoOf(to) ?? "~"];
  const isWanted = (recorded: RecordedEvent) => {
    countRead(slices);
    if (ownerOf(recorded) !== accountId || (link !== undefined && linkOf(recorded) !== link)) return false;
    const { at } = recorded.data as { at?: unknown };
    return typeof at === "string" && at >= first && at < end;
  };
  const after = await startOf(deps, request);
  const part = { after, upTo: until.position };
  for await (const clicks of wantedClicks(deps, isWanted, part, undefined, slices))
    for (const click of clicks) take(click);
  const sorted = [...changes.values()].sort((a, b) => REASONS.indexOf(a.reason) - REASONS.indexOf(b.reason));
  return { ...numbers, changes: sorted };
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

/** For another thread. */
function shown({ covers: _, ...withdrawal }: MadeWithdrawal): Omit<MadeWithdrawal, "covers"> {
  return withdrawal;
}

async function momentOf(deps: Deps, moment: Moment): Promise<MomentOfLog> {
  const { eventStore, readStore } = deps;
  if ("time" in moment) {
    const time = new Date(moment.time).toISOString();
    const logParts = {
      lastClickRecordedBy: (at: string, after: Position, upTo: Position | undefined) =>
        lastClickRecordedBy({ eventStore }, at, after, upTo),
    };
    return { position: await positionAt({ eventStore, readStore, logParts }, time), time };
  }
  const { position } = moment;
  if (position === START) return { position, time: null };
  const [event] = (await eventStore.readAll({ from: position, categories: ALL_CATEGORIES, limit: 1 })).events;
  return { position, time: event?.recordedAt ?? null };
}

/** No click of a link precedes its creation, and none of an account its opening. */
async function startOf(deps: Deps, { accountId, link, from }: ChangesRequest): Promise<Position> {
  const stream = link === undefined ? accountStream(accountId) : `${PREFIX.link}${link}`;
  const [first] = await deps.eventStore.read(stream, { limit: 1 });
  const before = from === undefined ? START : await positionBefore(deps, new Date(from));
  return [first?.position ?? START, before].toSorted().at(-1) ?? START;
}

function isoOf(instant: number | undefined): string | undefined {
  return instant === undefined ? undefined : new Date(instant).toISOString();
}
