// Events of accounts, domains, links and the operator by account, actor, correlation id, type and time; newest first.
import { readSetAside, type SetAsideEvent, setAsideCollection } from "../../coordination/set-aside.ts";
import { categoryOf } from "../../event-store/categories.ts";
import { refuseForeignPosition } from "../../event-store/foreign-position.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import { CATEGORY } from "../../events/streams.ts";
import { type EventIndexDocument, eventIndex } from "../../projections/definitions/event-index.ts";
import { checkpointName } from "../../projections/projection.ts";
import type { FindQuery, ReadStore, Scalar } from "../../read-store/port.ts";
import { behindCursor, pageOf } from "../cursor.ts";

/**
 * `actor`: its type, and `:` and its id where it has one. `from` is inclusive, `to` exclusive: ISO 8601 UTC. `upTo`: the
 * newest event is this one, or one before.
 */
export type EventFilter = {
  category?: string | undefined;
  account?: string | undefined;
  actor?: string | undefined;
  correlationId?: string | undefined;
  type?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  upTo?: Position | undefined;
};

export type IndexedEvent = {
  stream: string;
  revision: number;
  type: string;
  account: string | null;
  actor: string;
  correlation_id: string;
  recorded_at: string;
  position: Position;
};

export type Page = { limit: number; cursor?: string | undefined };
/** `set_aside`: events that could not be read, and may be some of those asked for; on the first page. */
export type EventPage = { events: IndexedEvent[]; next: string | null; set_aside: SetAsideEvent[] };

type Deps = { readStore: Pick<ReadStore, "find"> };
type FindDeps = {
  readStore: Pick<ReadStore, "find" | "checkpoint">;
  eventStore: Pick<EventStore, "readAll" | "head">;
};

/**
 * As far as the event-index projection has come, which is a moment behind the log.
 * @throws invalid_cursor, invalid_position, ProjectionNotBuilt
 */
export async function findEvents(deps: FindDeps, filter: EventFilter, page: Page): Promise<EventPage> {
  const { category, account, actor, correlationId, type, from, upTo } = filter;
  const given = Object.entries({ category, account, actor, correlationId, type });
  const where = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Record<
    string,
    Scalar
  >;
  const to = earlier(filter.to, upTo === undefined ? undefined : await idBehind(deps, upTo));
  const range: FindQuery["range"] = from || to ? { field: "_id", from, to } : undefined;
  const { documents, next } = await newestFirst(deps, { where, ...(range && { range }) }, page);
  const notes = setAsideCollection(eventIndex.collection.name);
  const checkpoint = page.cursor ? undefined : await deps.readStore.checkpoint(checkpointName(eventIndex));
  const { events: passed } = await readSetAside(deps.readStore, notes, checkpoint);
  const isWanted = (one: SetAsideEvent) =>
    (category === undefined || categoryOf(one.stream) === category) &&
    (upTo === undefined || one.position <= upTo);
  return { events: documents.map(indexed), next, set_aside: passed.filter(isWanted) };
}

/** A page of the index and the cursor of the next one. @throws invalid_cursor */
export async function newestFirst(
  { readStore }: Deps,
  query: Omit<FindQuery, "limit">,
  { limit, cursor }: Page,
): Promise<{ documents: EventIndexDocument[]; next: string | null }> {
  const found = await readStore.find<EventIndexDocument>(eventIndex.collection.name, {
    ...query,
    sort: { field: "_id", direction: "desc" },
    ...behindCursor(cursor),
    limit: limit + 1,
  });
  const { page: documents, next } = pageOf(found, limit, ({ _id }) => ({ value: "", id: _id }));
  return { documents, next };
}

/** The first id that an event behind the position can have. @throws invalid_position */
async function idBehind({ eventStore }: FindDeps, position: Position): Promise<string | undefined> {
  await refuseForeignPosition({ eventStore }, position);
  const [event] = await eventStore.readAll({ from: position, categories: Object.values(CATEGORY), limit: 1 });
  return event && `${event.recordedAt}@${event.position}${event.position === position ? "0" : ""}`;
}

function earlier(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

function indexed(document: EventIndexDocument): IndexedEvent {
  const { stream, revision, type, account, actor, correlationId, _position } = document;
  return {
    ...{ stream, revision, type, account, actor },
    correlation_id: correlationId,
    recorded_at: document._id.split("@", 1)[0] as string,
    position: _position,
  };
}
