// Clicks by link, account and time, from the log: read from the hour on in which they were recorded. Where to begin is a
// document; the search itself runs in another thread.

import { Refused } from "../../commands/refusals.ts";
import { linkKey, PREFIX } from "../../events/streams.ts";
import { laterOf } from "../../projections/definitions/click-tables/positions.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import { namedLink } from "../../queries/links/named-link.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import { type EventStore, type Position, type RecordedEvent, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { lastPositionIn, positionBefore } from "../analytics/log-positions.ts";
import { HOUR_MS } from "../analytics/time-zone.ts";
import { refuseForeignPosition } from "../cursor.ts";
import { auditedEvent } from "./audited-event.ts";
import { CLICK_PAGES, mayBeOf } from "./clicks-in-log.ts";

/**
 * `from` is inclusive, `to` exclusive: times of recording, ISO 8601 UTC; all by default. `after`: a position before `from`. `indexed`:
 * `last` of the clicks of those times up to a position, as the tables say; those behind it are searched, too.
 */
export type ClickSearch = {
  after: Position;
  indexed: { last: Position; upTo: Position } | undefined;
  from: string | undefined;
  to: string | undefined;
  /** `<host>/<slug>` */
  link?: string | undefined;
  account?: string | undefined;
  limit: number;
};

/** `next`: the search goes on behind this position; null at its end. A page may be empty and have a next one. */
export type FoundClicks = { events: RecordedEvent[]; next: Position | null };

export type FindClicks = (search: ClickSearch) => Promise<FoundClicks>;

/** Clicks that are read for one answer, in which another caller of the thread waits. */
const MOST_SEARCHED = 50_000;

/** In the order of the log. Runs in the log reader's thread, as clicks of all links are read. */
export async function findClicks(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  { after, indexed, from = "", to, link, account, limit }: ClickSearch,
): Promise<FoundClicks> {
  const events: RecordedEvent[] = [];
  const isOf = mayBeOf({ link, accountId: account });
  const isWanted = (click: RecordedEvent) =>
    click.recordedAt >= from && click.recordedAt < (to ?? "~") && isOf(click);
  let searched = 0;
  const parts = indexed
    ? [{ after, upTo: indexed.last }, { after: laterOf(after, indexed.last, indexed.upTo) }]
    : [{ after }];
  for (const part of parts)
    for await (const { events: batch, next } of logPages(eventStore, { ...part, ...CLICK_PAGES })) {
      for (const event of batch) {
        if (isWanted(event)) events.push(event);
        if (events.length === limit) return { events, next: event.position };
      }
      searched += batch.length;
      if (searched >= MOST_SEARCHED) return { events, next };
    }
  return { events, next: null };
}

type SearchDeps = {
  eventStore: Pick<EventStore, "head" | "read">;
  readStore: Pick<ReadStore, "find" | "checkpoint">;
  findClicks: FindClicks;
  clock: () => Date;
  baseHost: string;
  /** After so long a page that is not full is answered as it is. */
  searchMs?: number;
};

/** `link`: as namedLink takes it. */
type ClicksWanted = Pick<ClickSearch, "link" | "account" | "limit"> & {
  from?: string | undefined;
  to?: string | undefined;
  /** `next` of the page before. */
  after?: Position | undefined;
};

export type ClicksPage = Awaited<ReturnType<typeof searchClicks>>;

/**
 * In the order of the log. Without times: all clicks of the link or account, or those of the last hour when neither is named;
 * with one of them an hour. `from` and `to` are null for all times; there may be more behind `next`.
 * @throws invalid_link, invalid_position; not_found for a link that there never was
 */
export async function searchClicks(
  deps: SearchDeps,
  { link: named, account, limit, after, ...times }: ClicksWanted,
) {
  const { eventStore, readStore, findClicks, baseHost, searchMs = Number.POSITIVE_INFINITY } = deps;
  const address = named === undefined ? undefined : namedLink(named, baseHost);
  const link = address && linkKey(address.host, address.slug);
  if (after !== undefined) await refuseForeignPosition({ eventStore }, after);
  const isOfAllTimes = !times.from && !times.to && (link ?? account) !== undefined;
  const { from, to } = isOfAllTimes ? {} : hoursOf(deps.clock().getTime(), times);
  const begin = from ? await positionBefore({ readStore }, new Date(from)) : await createdAt(deps, link);
  // The position first: the hours may be ahead of it, not behind.
  const upTo = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
  const indexed = from && to ? { last: await lastPositionIn({ readStore }, from, to), upTo } : undefined;
  const events: RecordedEvent[] = [];
  let next: Position | null = after ?? begin;
  const started = performance.now();
  do {
    const part = { after: next, indexed, from, to, link, account, limit: limit - events.length };
    const page = await findClicks(part);
    events.push(...page.events);
    next = page.next;
  } while (next !== null && events.length < limit && performance.now() - started < searchMs);
  return { from: from ?? null, to: to ?? null, events: events.map(auditedEvent), next };
}

function hoursOf(now: number, { from, to }: Pick<ClicksWanted, "from" | "to">) {
  const start = from ?? new Date((to ? Date.parse(to) : now) - HOUR_MS).toISOString();
  const end = to ?? new Date(Math.min(now + 1, Date.parse(start) + HOUR_MS)).toISOString();
  return { from: start, to: end };
}

/** Position of LinkCreated: no click precedes it. START without a link. */
async function createdAt({ eventStore }: SearchDeps, link: string | undefined): Promise<Position> {
  if (link === undefined) return START;
  const [created] = await eventStore.read(`${PREFIX.link}${link}`, { limit: 1 });
  if (!created) throw new Refused("not_found", `There is no link ${link}`);
  return created.position;
}
