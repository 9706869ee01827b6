// Where in the log a time lies: the positions between which clicks were recorded, and the position that a link as of
// a time stands at.

import { CATEGORY, PREFIX, withdrawalStream } from "../../events/streams.ts";
import { type ClickHourDocument, clickHours, hourOf } from "../../projections/definitions/click-hours.ts";
import { laterOf } from "../../projections/definitions/click-tables/positions.ts";
import { clicks } from "../../projections/groups.ts";
import type { TimeSlices } from "../../runtime/threads/time-slices.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import {
  type EventStore,
  type LogPage,
  type Position,
  type RecordedEvent,
  START,
} from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import type { FindQuery, ReadStore } from "../../stores/read-store/port.ts";
import { HOUR_MS } from "./time-zone.ts";

type HoursDeps = { readStore: Pick<ReadStore, "find"> };

/**
 * A position before every click that was recorded at or after `since`: where a clock was ahead and was set back, also before
 * those of later hours. While click-hours are behind, the position is earlier than necessary, never later.
 */
export async function positionBefore({ readStore }: HoursDeps, since: Date): Promise<Position> {
  const from = hourOf(since.toISOString());
  const { name } = clickHours;
  const sort = { field: "first", direction: "asc" } as const;
  const [earliest] = await readStore.find<ClickHourDocument>(name, {
    range: { field: "hour", from },
    sort,
    limit: 1,
  });
  return await lastPosition({ readStore }, { field: "_position", to: earliest?.first });
}

/**
 * The position of the last click recorded in the hours of [from, to), as far as the click-hours projection has come;
 * START when there is none. ISO 8601 UTC.
 */
export async function lastPositionIn(deps: HoursDeps, from: string, to: string): Promise<Position> {
  return await lastPosition(deps, { field: "hour", from: hourOf(from), to: `${lastHourOf(to)}~` });
}

/** The last hour that begins before a time, ISO 8601 UTC. */
function lastHourOf(to: string): string {
  return hourOf(new Date(Date.parse(to) - 1).toISOString());
}

async function lastPosition(
  { readStore }: HoursDeps,
  range: NonNullable<FindQuery["range"]>,
): Promise<Position> {
  const [last] = await readStore.find<ClickHourDocument>(clickHours.name, {
    range,
    sort: { field: "_position", direction: "desc" },
    limit: 1,
  });
  return last?._position ?? START;
}

type Deps = {
  eventStore: Pick<EventStore, "read" | "readAll">;
  readStore: Pick<ReadStore, "find" | "checkpoint">;
};

const BATCH = 1_000;

/**
 * A link as of a time is the log up to the last click, or change of the link, that was recorded by then. Clocks may be set
 * back: what stands before such an event in the log is part of it, whatever time it was recorded under. Undefined for a
 * link whose creation was recorded later. `time`: ISO 8601 UTC. @throws what the stores throw
 */
export async function positionAsOf(
  deps: Deps,
  link: string,
  time: string,
  slices?: TimeSlices,
): Promise<Position | undefined> {
  const ofLink = [`${PREFIX.link}${link}`, withdrawalStream(link)] as const;
  const [created] = await deps.eventStore.read(ofLink[0], { limit: 1 });
  if (!created || created.recordedAt > time) return undefined;
  const positions = await Promise.all([
    lastClick(deps, time, slices),
    ...ofLink.map((stream) => lastRecordedBy(streamPages(deps.eventStore, stream), time)),
  ]);
  return laterOf(...positions);
}

/**
 * The numbers of all links as of a time: up to the last click, withdrawal or act of the operator that was recorded by then; START
 * for none. `time`: ISO 8601 UTC. @throws what the stores throw
 */
export async function positionAt(
  deps: Omit<Deps, "eventStore"> & { eventStore: Pick<EventStore, "readAll"> },
  time: string,
  slices?: TimeSlices,
): Promise<Position> {
  const categories = [CATEGORY.withdrawals, CATEGORY.operator];
  const corrections = eventsOf(logPages(deps.eventStore, { after: START, categories, limit: BATCH }));
  return laterOf(await lastClick(deps, time, slices), await lastRecordedBy(corrections, time));
}

/**
 * By the last positions of the hours of recording, so that one hour of the log is read, and what its index lacks yet. The
 * checkpoint first: the index may be ahead of it, not behind.
 */
async function lastClick(
  { eventStore, readStore }: Parameters<typeof positionAt>[0],
  time: string,
  slices: TimeSlices | undefined,
): Promise<Position> {
  const hour = `${hourOf(time)}:00:00.000Z`;
  const next = new Date(Date.parse(hour) + HOUR_MS).toISOString();
  const indexed = (await readStore.checkpoint(clicks.name))?.position ?? START;
  const before = await lastPositionIn({ readStore }, "", hour);
  const last = await lastPositionIn({ readStore }, hour, next);
  const notIndexed = await lastClickRecordedBy(eventStore, time, { after: indexed, slices });
  if (notIndexed !== START || last <= before) return laterOf(notIndexed, before);
  return laterOf(before, await lastClickRecordedBy(eventStore, time, { after: before, upTo: last, slices }));
}

/** The last click of the part of the log that was recorded by the time. */
async function lastClickRecordedBy(
  eventStore: Pick<EventStore, "readAll">,
  time: string,
  part: { after: Position; upTo?: Position; slices: TimeSlices | undefined },
): Promise<Position> {
  const clicksOfPart = logPages(eventStore, { ...part, categories: [CATEGORY.clicks], limit: BATCH });
  return await lastRecordedBy(eventsOf(clicksOfPart), time);
}

async function* eventsOf(pages: AsyncIterable<LogPage>): AsyncGenerator<RecordedEvent[]> {
  for await (const { events } of pages) yield events;
}

/** START for none. */
async function lastRecordedBy(
  pages: AsyncIterable<readonly Pick<RecordedEvent, "position" | "recordedAt">[]>,
  time: string,
): Promise<Position> {
  let last = START;
  for await (const page of pages)
    last = page.findLast(({ recordedAt }) => recordedAt <= time)?.position ?? last;
  return last;
}
