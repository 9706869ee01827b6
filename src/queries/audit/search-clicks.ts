// A page of clicks by time, link and account: where to begin is a document, the search itself runs in another thread.
import { namedLink } from "../../commands/withdrawals/named-link.ts";
import { refuseForeignPosition } from "../../event-store/foreign-position.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import { linkKey } from "../../events/streams.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { lastPositionIn, positionBefore } from "../analytics/click-positions.ts";
import { type AuditedEvent, auditedEvent } from "./audited-event.ts";
import type { ClickSearch, FoundClicks } from "./find-clicks.ts";

type Deps = {
  eventStore: Pick<EventStore, "head">;
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

export type ClicksPage = { from: string; to: string; events: AuditedEvent[]; next: Position | null };

const HOUR_MS = 3_600_000;

/** Of the last hour by default, or of the hour from `from` on. In the order of the log. @throws InvalidLink, InvalidPosition */
export async function searchClicks(
  { eventStore, readStore, findClicks, clock, baseHost }: Deps,
  { link: named, account, limit, from: since, to: until, after }: ClicksWanted,
): Promise<ClicksPage> {
  const address = named === undefined ? undefined : namedLink(named, baseHost);
  const link = address && linkKey(address.host, address.slug);
  if (after !== undefined) await refuseForeignPosition({ eventStore }, after);
  const now = clock().getTime();
  const start = since ?? new Date((until ? Date.parse(until) : now) - HOUR_MS).toISOString();
  const end = until ?? new Date(Math.min(now + 1, Date.parse(start) + HOUR_MS)).toISOString();
  const begin = after ?? (await positionBefore({ readStore }, new Date(start)));
  const last = await lastPositionIn({ readStore }, start, end);
  const part = { after: begin, last, from: start, to: end };
  const { events, next } = await findClicks({ ...part, link, account, limit });
  return { from: start, to: end, events: events.map(auditedEvent), next };
}
