// `linkledger export clicks`: clicks of an account or of all, read from the log page by page.
import { withdrawnOfAll } from "../click-log/read-withdrawals.ts";
import { logPages } from "../event-store/log-pages.ts";
import type { EventStore, Position } from "../event-store/port.ts";
import { readableEvent } from "../events/read-event.ts";
import { CATEGORY } from "../events/streams.ts";
import { type ClickColumn, COLUMNS } from "../log-reader/click-lines.ts";
import { type ClickRow, exportedClick, unreadableClick } from "../queries/analytics/all-clicks.ts";
import { ownerOf } from "../queries/feed/account-events.ts";

/** `from` inclusive, `to` exclusive: when clicks happened. */
export type ClickSelection = {
  accountId: string | undefined;
  from: Date | undefined;
  to: Date | undefined;
};

/** `link` is `<host>/<slug>`; `type` and what follows are as in the portal's export of one link. */
export const CLICK_COLUMNS: readonly ClickColumn[] = [
  ["link", ({ link }) => link],
  ["account_id", ({ accountId }) => accountId],
  ...COLUMNS,
  ["account_visitor", ({ accountVisitor }) => accountVisitor],
  ["via", ({ via }) => via],
  ["method", ({ method }) => method],
  ["prefetch", ({ prefetch }) => prefetch],
];

/** Bounds memory, as one batch is held at a time. */
const BATCH = 1_000;

/**
 * In the order of the log, up to its end at the call, without those that are withdrawn. `after`: a position before
 * every click of the selection. Clicks that were imported or waited in a spool are recorded later than they happened,
 * so all that follow are read. A click that can't be read, and that is the account's or may be, is a row, too.
 * @throws EventNewer, StoreUnavailable
 */
export async function* clickRows(
  { eventStore }: { eventStore: Pick<EventStore, "readAll" | "head"> },
  { accountId, from, to }: ClickSelection,
  after: Position | undefined,
): AsyncGenerator<ClickRow[]> {
  const [since, until] = [from?.toISOString() ?? "", to?.toISOString() ?? "~"];
  const head = (await eventStore.head()) ?? "";
  const isWithdrawn = await withdrawnOfAll({ eventStore });
  const part = { after, upTo: head, categories: [CATEGORY.clicks], limit: BATCH };
  for await (const events of logPages(eventStore, part)) {
    const rows: ClickRow[] = [];
    for (const recorded of events) {
      if (accountId !== undefined && (ownerOf(recorded) ?? accountId) !== accountId) continue;
      const event = readableEvent(recorded, () => rows.push(unreadableClick(recorded)));
      if (event?.type !== "LinkClicked" || event.data.at < since || event.data.at >= until) continue;
      const row = exportedClick(event);
      if (!isWithdrawn(row)) rows.push(row);
    }
    yield rows;
  }
}
