// Clicks for exports, read from the log page by page: of one link, of an account, or of all.

import { clickFacts } from "../../events/click-facts.ts";
import { readableEvent } from "../../events/read-event.ts";
import { CATEGORY } from "../../events/streams.ts";
import { isWithdrawnBy } from "../../events/withdrawals.ts";
import { type ChunkHead, chunksOf, clickTables } from "../../projections/definitions/click-tables/chunk.ts";
import { linkOf } from "../../projections/fold/clicks-between.ts";
import { withdrawalsOf, withdrawnOfAll } from "../../projections/fold/read-withdrawals.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import { ownerOf } from "../../queries/feed/account-events.ts";
import { utcDate } from "../../runtime/moment.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import { type EventStore, type Position, type RecordedEvent, START } from "../../stores/event-store/port.ts";
import type { Document, ReadStore } from "../../stores/read-store/port.ts";
import type { ClickRow } from "./click-lines.ts";

/** `from` inclusive, `to` exclusive: when clicks happened. `link`: its key. All of them by default. */
export type ClickSelection = {
  accountId?: string | undefined;
  link?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/** Bounds memory, as one batch is held at a time. */
const BATCH = 1_000;

/**
 * From the first click of the selection's time on that the tables have, or else the first that they lack: by what clicks say
 * themselves, as clocks by which they were recorded may have been set back. @throws as clickRows
 */
export async function* clicksFrom(
  { eventStore, readStore }: Pick<Deps, "eventStore"> & { readStore: Pick<ReadStore, "checkpoint" | "find"> },
  selection: ClickSelection,
): AsyncGenerator<ClickRow[]> {
  const { accountId, from } = selection;
  if (!from) return yield* clickRows({ eventStore }, selection, { after: START });
  const day = utcDate(from);
  const [first] = await readStore.find<Document & Pick<ChunkHead, "first">>(clickTables.name, {
    range: accountId === undefined ? { field: "day", from: day } : chunksOf(accountId, day),
    sort: { field: "first", direction: "asc" },
    fields: ["first"],
    limit: 1,
  });
  const counted = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
  const start = first && first.first <= counted ? { from: first.first } : { after: counted };
  yield* clickRows({ eventStore }, selection, start);
}

type Deps = { eventStore: Pick<EventStore, "read" | "readAll" | "head"> };

/**
 * In the order of the log, up to its end at the call, without those that are withdrawn. `start`: not behind any click of the
 * selection. A click that can't be read, and that is of the selection or may be, is a row, too.
 * @throws EventNewer, StoreUnavailable
 */
export async function* clickRows(
  { eventStore }: Deps,
  { accountId, link, from, to }: ClickSelection,
  start: { after: Position } | { from: Position },
): AsyncGenerator<ClickRow[]> {
  const [since, until] = [from?.toISOString() ?? "", to?.toISOString() ?? "~"];
  const upTo = await eventStore.head();
  const isWithdrawn =
    link === undefined
      ? await withdrawnOfAll({ eventStore })
      : isWithdrawnBy(await withdrawalsOf({ eventStore }, link));
  // Before the data is validated, as most clicks may be of others.
  const isOther = (recorded: RecordedEvent) =>
    (accountId !== undefined && (ownerOf(recorded) ?? accountId) !== accountId) ||
    (link !== undefined && (linkOf(recorded) ?? link) !== link);
  const part = { ...start, upTo, categories: [CATEGORY.clicks], limit: BATCH };
  for await (const { events } of logPages(eventStore, part)) {
    const rows: ClickRow[] = [];
    for (const recorded of events) {
      if (isOther(recorded)) continue;
      const event = readableEvent(recorded, () => rows.push(unreadable(recorded)));
      if (event?.type !== "LinkClicked" || event.data.at < since || event.data.at >= until) continue;
      const row = { ...clickFacts(event.data), eventId: event.id, position: event.position };
      if (!isWithdrawn(row)) rows.push(row);
    }
    yield rows;
  }
}

function unreadable({ id, position, stream, revision, recordedAt }: RecordedEvent): ClickRow {
  return { eventId: id, position, stream, revision, recordedAt, unreadable: true };
}
