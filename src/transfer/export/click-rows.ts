// Clicks for the operator's exports, read from the log page by page: of an account, or of all.

import { reclassified } from "../../events/classification/reclassify.ts";
import { clickFacts } from "../../events/click-facts.ts";
import { queriedBuild } from "../../projections/builds/builds.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import { type ChunkHead, chunksOf, clickTables } from "../../projections/definitions/click-tables/chunk.ts";
import { withdrawnOfAll } from "../../projections/fold/read-withdrawals.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import { clicksInLog } from "../../queries/audit/clicks-in-log.ts";
import { utcDate } from "../../runtime/moment.ts";
import { type EventStore, type Position, type RecordedEvent, START } from "../../stores/event-store/port.ts";
import type { Document, ReadStore } from "../../stores/read-store/port.ts";
import type { ClickRow } from "./click-lines.ts";

/** `from` inclusive, `to` exclusive: when clicks happened. All of them by default. */
export type ClickSelection = {
  accountId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

type Deps = {
  eventStore: Pick<EventStore, "readAll" | "head">;
  readStore: Pick<ReadStore, "checkpoint" | "find" | "get">;
};

/**
 * In the order of the log, up to its end at the call, without those that are withdrawn, and of the kinds that they count as. Clicks
 * that were imported or waited in a journal are recorded later than they happened, so all that follow are read. A click that can't
 * be read, and that is of the selection or may be, is a row, too. @throws EventNewer, ProjectionNotBuilt, StoreUnavailable
 */
export async function* clickRows(deps: Deps, selection: ClickSelection): AsyncGenerator<ClickRow[]> {
  const { eventStore, readStore } = deps;
  const { accountId, from, to } = selection;
  const [since, until] = [from?.toISOString() ?? "", to?.toISOString() ?? "~"];
  const upTo = await eventStore.head();
  const isWithdrawn = await withdrawnOfAll({ eventStore });
  const rules = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup))?.rules;
  const part = { ...(await startOf(deps, selection)), upTo };
  for await (const clicks of clicksInLog({ eventStore }, { accountId }, part))
    yield clicks.flatMap((click) => {
      if ("unreadable" in click) return [unreadable(click.unreadable)];
      if (click.data.at < since || click.data.at >= until) return [];
      const { data, id, position } = rules === undefined ? click : reclassified(click, rules);
      const row = { ...clickFacts(data), eventId: id, position };
      return isWithdrawn(row) ? [] : [row];
    });
}

/**
 * Not behind any click of the selection: the first row of its days in the tables, or what these lack. By what clicks say themselves,
 * as clocks by which they were recorded may have been set back.
 */
async function startOf(
  { readStore }: Deps,
  { accountId, from }: ClickSelection,
): Promise<{ after: Position } | { from: Position }> {
  if (!from) return { after: START };
  const counted = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
  const day = utcDate(from);
  const [first] = await readStore.find<Document & Pick<ChunkHead, "first">>(clickTables.name, {
    range: accountId === undefined ? { field: "day", from: day } : chunksOf(accountId, day),
    sort: { field: "first", direction: "asc" },
    fields: ["first"],
    limit: 1,
  });
  return first && first.first <= counted ? { from: first.first } : { after: counted };
}

function unreadable({ id, position, stream, revision, recordedAt }: RecordedEvent): ClickRow {
  return { eventId: id, position, stream, revision, recordedAt, unreadable: true };
}
