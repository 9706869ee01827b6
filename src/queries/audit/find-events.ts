// Events of accounts, domains, links and the operator by account, actor, correlation id, type and time; their streams, and
// the hours that have clicks; newest first.

import { CATEGORY, SEALS_STREAM } from "../../events/streams.ts";
import { type ClickHourDocument, clickHours } from "../../projections/definitions/click-hours.ts";
import { type EventIndexDocument, eventIndex } from "../../projections/definitions/event-index.ts";
import { lifecycle } from "../../projections/groups.ts";
import { readSetAside, type SetAsideEvent, setAsideCollection } from "../../stores/coordination/set-aside.ts";
import { categoryOf } from "../../stores/event-store/categories.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import type { FindQuery, ReadStore } from "../../stores/read-store/port.ts";
import { readPage, refuseForeignPosition } from "../cursor.ts";

/**
 * `actor`: its type, with `:` and its id for one of them. `from` is inclusive, `to` exclusive: ISO 8601 UTC. `upTo`: the
 * newest event is this one, or one before.
 */
export type EventFilter = Partial<
  Record<
    "category" | "account" | "actor" | "correlationId" | "type" | "from" | "to" | "upTo",
    string | undefined
  >
>;

export type Page = { limit: number; cursor?: string | undefined };

type Deps = { readStore: Pick<ReadStore, "find"> };
type StreamDeps = Deps & { eventStore: Pick<EventStore, "read"> };
type FindDeps = {
  readStore: Pick<ReadStore, "find" | "checkpoint">;
  eventStore: Pick<EventStore, "readAll" | "head">;
};

/**
 * As far as the event-index projection has come, which is a moment behind the log. `set_aside`: events that could not be
 * read, and may be some of those asked for; on the first page. @throws invalid_cursor, invalid_position, ProjectionNotBuilt
 */
export async function findEvents(deps: FindDeps, filter: EventFilter, page: Page) {
  const { category, account, actor, correlationId, type, from, upTo } = filter;
  const by = actor?.includes(":") ? { actor } : { actorType: actor };
  const wanted = Object.entries({ category, account, ...by, correlationId, type });
  const where: FindQuery["where"] = Object.fromEntries(
    wanted.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const to = earlier(filter.to, upTo === undefined ? undefined : await idBehind(deps, upTo));
  const range: FindQuery["range"] = from || to ? { field: "_id", from, to } : undefined;
  const { documents, next } = await newestFirst(deps, { where, ...(range && { range }) }, page);
  const notes = setAsideCollection(lifecycle.name);
  const checkpoint = page.cursor ? undefined : await deps.readStore.checkpoint(lifecycle.name);
  const { events: passed } = await readSetAside(deps.readStore, notes, checkpoint);
  const isWanted = (event: SetAsideEvent) =>
    (category === undefined || categoryOf(event.stream) === category) &&
    (upTo === undefined || event.position <= upTo);
  return { events: documents.map(indexed), next, set_aside: passed.filter(isWanted) };
}

/** A page of the index and the cursor of the next one. @throws invalid_cursor */
async function newestFirst({ readStore }: Deps, query: Omit<FindQuery, "limit">, { limit, cursor }: Page) {
  const sorted = { ...query, sort: { field: "_id", direction: "desc" } } as const;
  const request = { after: cursor, limit };
  const { name } = eventIndex.collection;
  const { page, next } = await readPage<EventIndexDocument>(readStore, name, sorted, request);
  return { documents: page, next };
}

/** The first id that an event behind the position can have. @throws invalid_position */
async function idBehind({ eventStore }: FindDeps, position: Position): Promise<string | undefined> {
  await refuseForeignPosition({ eventStore }, position);
  const start = position === START ? { after: START } : { from: position };
  const page = await eventStore.readAll({ ...start, categories: Object.values(CATEGORY), limit: 1 });
  const [event] = page.events;
  return event && `${event.recordedAt}@${event.position}${event.position === position ? "0" : ""}`;
}

function earlier(time: string | undefined, other: string | undefined): string | undefined {
  if (time === undefined || other === undefined) return time ?? other;
  return time < other ? time : other;
}

function indexed(document: EventIndexDocument) {
  const { stream, revision, type, account, actor, correlationId, _position } = document;
  return {
    stream,
    revision,
    type,
    account,
    actor,
    correlation_id: correlationId,
    recorded_at: recordedAtOf(document._id),
    position: _position,
  };
}

function recordedAtOf(id: string): string {
  return id.split("@", 1)[0] as string;
}

type Opening = { stream: string; type: string; recordedAt: string; account?: string | null };

/** By their first events. @throws invalid_cursor, ProjectionNotBuilt */
export async function listStreams(
  { eventStore, readStore }: StreamDeps,
  { category, account }: { category: string; account?: string | undefined },
  page: Page,
) {
  if (category === SEALS_STREAM) {
    const [first] = await eventStore.read(SEALS_STREAM, { limit: 1 });
    return { streams: first ? [await listed(first)] : [], next: null };
  }
  const where = { category, opens: true, ...(account === undefined ? {} : { account }) };
  const { documents, next } = await newestFirst({ readStore }, { where }, page);
  const openedBy = ({ _id, ...event }: EventIndexDocument) => ({ ...event, recordedAt: recordedAtOf(_id) });
  return { streams: await Promise.all(documents.map((document) => listed(openedBy(document)))), next };

  async function listed(first: Opening) {
    const { stream, account = null, type, recordedAt: opened_at } = first;
    const [last = { revision: 0, type, recordedAt: opened_at }] = await eventStore.read(stream, {
      backwards: true,
      limit: 1,
    });
    const { revision, type: last_type, recordedAt: last_recorded_at } = last;
    return { stream, account, opened_at, events: revision + 1, last_type, last_recorded_at };
  }
}

/** Streams of clicks have no owner and no index: they are found by the hour. @throws invalid_cursor */
export async function listClickHours({ readStore }: Deps, { limit, cursor }: Page) {
  const query = { sort: { field: "hour", direction: "desc" } } as const;
  const request = { after: cursor, limit };
  const { page, next } = await readPage<ClickHourDocument>(readStore, clickHours.name, query, request);
  return { hours: page.map(({ hour, clicks }) => ({ hour: `${hour}:00:00.000Z`, clicks })), next };
}
