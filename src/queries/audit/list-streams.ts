// The streams of a category or an account, newest first, with their last events; and the hours that have clicks.
import type { EventStore } from "../../event-store/port.ts";
import { SEALS_STREAM } from "../../events/streams.ts";
import { type ClickHourDocument, clickHours } from "../../projections/definitions/click-hours.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { behindCursor, pageOf } from "../cursor.ts";
import { newestFirst, type Page } from "./find-events.ts";

export type ListedStream = {
  stream: string;
  account: string | null;
  opened_at: string;
  events: number;
  last_type: string;
  last_recorded_at: string;
};

export type StreamsPage = { streams: ListedStream[]; next: string | null };
export type ClickHoursPage = { hours: { hour: string; clicks: number }[]; next: string | null };

type Deps = { eventStore: Pick<EventStore, "read">; readStore: Pick<ReadStore, "find"> };

/** By their first events. @throws invalid_cursor, ProjectionNotBuilt */
export async function listStreams(
  { eventStore, readStore }: Deps,
  { category, account }: { category: string; account?: string | undefined },
  page: Page,
): Promise<StreamsPage> {
  if (category === SEALS_STREAM) return { streams: await sealStream(eventStore), next: null };
  const where = { category, opens: true, ...(account === undefined ? {} : { account }) };
  const { documents, next } = await newestFirst({ readStore }, { where }, page);
  const streams = await Promise.all(
    documents.map(async ({ _id, stream, account: owner, type }) => {
      const [last] = await eventStore.read(stream, { backwards: true, limit: 1 });
      const opened_at = _id.split("@", 1)[0] as string;
      return {
        ...{ stream, account: owner, opened_at, events: (last?.revision ?? 0) + 1 },
        last_type: last?.type ?? type,
        last_recorded_at: last?.recordedAt ?? opened_at,
      };
    }),
  );
  return { streams, next };
}

/** Streams of clicks have no owner and no index: they are found by the hour. @throws invalid_cursor */
export async function listClickHours(
  { readStore }: Pick<Deps, "readStore">,
  { limit, cursor }: Page,
): Promise<ClickHoursPage> {
  const found = await readStore.find<ClickHourDocument>(clickHours.collection.name, {
    sort: { field: "hour", direction: "desc" },
    ...behindCursor(cursor),
    limit: limit + 1,
  });
  const { page, next } = pageOf(found, limit, ({ hour, _id }) => ({ value: hour, id: _id }));
  return { hours: page.map(({ hour, clicks }) => ({ hour: `${hour}:00:00.000Z`, clicks })), next };
}

async function sealStream(eventStore: Deps["eventStore"]): Promise<ListedStream[]> {
  const [[first], [last]] = await Promise.all([
    eventStore.read(SEALS_STREAM, { limit: 1 }),
    eventStore.read(SEALS_STREAM, { backwards: true, limit: 1 }),
  ]);
  if (!first || !last) return [];
  return [
    {
      ...{ stream: SEALS_STREAM, account: null, opened_at: first.recordedAt, events: last.revision + 1 },
      ...{ last_type: last.type, last_recorded_at: last.recordedAt },
    },
  ];
}
