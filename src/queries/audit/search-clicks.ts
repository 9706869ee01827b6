// A page of clicks by time, link and account: where to begin is a document, the search itself runs in another thread.
import { namedLink } from "../../commands/links/change-link.ts";
import { refuseForeignPosition } from "../../event-store/foreign-position.ts";
import type { EventStore, Position, RecordedEvent } from "../../event-store/port.ts";
import { linkKey, PREFIX } from "../../events/streams.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import { lastPositionIn, positionBefore } from "../analytics/click-positions.ts";
import { type AuditedEvent, auditedEvent } from "./audited-event.ts";
import type { ClickSearch, FoundClicks } from "./find-clicks.ts";

type Deps = {
  eventStore: Pick<EventStore, "head" | "read">;
  readStore: Pick<ReadStore, "find">;
  findClicks: (search: ClickSearch) => Promise<FoundClicks>;
  clock: () => Date;
  baseHost: string;
};

/** `link`: as namedLink takes it. */
export type ClicksWanted = Pick<ClickSearch, "link" | "account" | "limit"> & {
  from?: string | undefined;
  to?: string | undefined;
  /** `next` of the page before. */
  after?: Position | undefined;
};

/** `from` and `to`: null for all times. `next`: there may be more behind it; null at the end. */
export type ClicksPage = {
  from: string | null;
  to: string | null;
  events: AuditedEvent[];
  next: Position | null;
};

const HOUR_MS = 3_600_000;

/**
 * In the order of the log. Without times: all clicks of the link or account, or those of the last hour when neither is named;
 * with one of them an hour. `searchMs`: after so long a page that is not full is answered as it is.
 * @throws invalid_link, invalid_position; not_found for a link that there never was
 */
export async function searchClicks(
  deps: Deps,
  { link: named, account, limit, after, ...times }: ClicksWanted,
  { searchMs = Number.POSITIVE_INFINITY } = {},
): Promise<ClicksPage> {
  const { eventStore, readStore, findClicks, baseHost } = deps;
  const address = named === undefined ? undefined : namedLink(named, baseHost);
  const link = address && linkKey(address.host, address.slug);
  if (after !== undefined) await refuseForeignPosition({ eventStore }, after);
  const isOfAllTimes = !times.from && !times.to && (link ?? account) !== undefined;
  const { from, to } = isOfAllTimes ? {} : hoursOf(deps.clock().getTime(), times);
  const begin = from ? await positionBefore({ readStore }, new Date(from)) : await createdAt(deps, link);
  const last = from && to ? await lastPositionIn({ readStore }, from, to) : undefined;
  const events: RecordedEvent[] = [];
  let next: Position | null | undefined = after ?? begin;
  const started = performance.now();
  do {
    const part = { after: next, last, from, to, link, account, limit: limit - events.length };
    const found = await findClicks(part);
    events.push(...found.events);
    next = found.next;
  } while (next !== null && events.length < limit && performance.now() - started < searchMs);
  return { from: from ?? null, to: to ?? null, events: events.map(auditedEvent), next };
}

function hoursOf(now: number, { from, to }: Pick<ClicksWanted, "from" | "to">) {
  const start = from ?? new Date((to ? Date.parse(to) : now) - HOUR_MS).toISOString();
  const end = to ?? new Date(Math.min(now + 1, Date.parse(start) + HOUR_MS)).toISOString();
  return { from: start, to: end };
}

/** Position of LinkCreated: no click precedes it. Undefined without a link. */
async function createdAt({ eventStore }: Deps, link: string | undefined): Promise<Position | undefined> {
  if (link === undefined) return undefined;
  const [created] = await eventStore.read(`${PREFIX.link}${link}`, { limit: 1 });
  if (!created) throw new Refused("not_found", `There is no link ${link}`);
  return created.position;
}
