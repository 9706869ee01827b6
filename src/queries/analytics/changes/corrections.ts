// What changes numbers afterwards, from the log: withdrawals of clicks with who made and ended them, and the rules by which
// the operator had clicks counted anew.
import { metadataOf, readableEvent } from "../../../events/read-event.ts";
import { CATEGORY, withdrawalStream } from "../../../events/streams.ts";
import { clicks as clickGroup } from "../../../projections/groups.ts";
import { logPages } from "../../../stores/event-store/log-pages.ts";
import {
  type Actor,
  type EventStore,
  type Position,
  type RecordedEvent,
  START,
} from "../../../stores/event-store/port.ts";
import { streamPages } from "../../../stores/event-store/stream-pages.ts";

type Deps = { eventStore: Pick<EventStore, "read" | "readAll"> };

/** `at`: ISO 8601 UTC. */
export type Act = { position: Position; at: string; by: Actor["type"] };

/** `ended`: when it was taken back. */
export type MadeWithdrawal = {
  id: string;
  link: string;
  reason: string;
  made: Act;
  ended: Act | undefined;
};

const PAGE = 1_000;

/** Of one link, or of all links of the account, by their ids. @throws EventNewer */
export async function madeWithdrawals(
  { eventStore }: Deps,
  accountId: string,
  link: string | undefined,
): Promise<Map<string, MadeWithdrawal>> {
  const withdrawals = new Map<string, MadeWithdrawal>();
  const noteAll = (page: readonly RecordedEvent[]) => {
    for (const recorded of page) note(recorded, accountId, withdrawals);
  };
  const part = { after: START, categories: [CATEGORY.withdrawals], limit: PAGE };
  if (link === undefined) for await (const { events } of logPages(eventStore, part)) noteAll(events);
  else for await (const page of streamPages(eventStore, withdrawalStream(link))) noteAll(page);
  return withdrawals;
}

function note(recorded: RecordedEvent, accountId: string, withdrawals: Map<string, MadeWithdrawal>): void {
  const event = readableEvent(recorded);
  if (event?.type !== "ClicksWithdrawn" && event?.type !== "ClicksRestored") return;
  const { withdrawalId: id, host, slug, at } = event.data;
  if (event.data.accountId !== accountId) return;
  const act = { position: event.position, at, by: metadataOf(event).actor.type };
  const withdrawal = withdrawals.get(id);
  if (event.type === "ClicksRestored" && withdrawal) withdrawal.ended ??= act;
  if (event.type === "ClicksWithdrawn" && !withdrawal)
    withdrawals.set(id, {
      id,
      link: `${host}/${slug}`,
      reason: event.data.reason,
      made: act,
      ended: undefined,
    });
}

/**
 * The rules by which clicks counted as of a position, undefined for those that each click was recorded under. From when the
 * operator had them counted anew or put back; the new numbers answered a little later.
 */
export async function rulesHistory({ eventStore }: Deps): Promise<(at: Position) => string | undefined> {
  const steps: { position: Position; rules: string | undefined }[] = [];
  let [present, previous]: (string | undefined)[] = [];
  const part = { after: START, categories: [CATEGORY.operator], limit: PAGE };
  for await (const { events } of logPages(eventStore, part))
    for (const recorded of events) {
      const event = readableEvent(recorded);
      if (event?.type === "ProjectionRebuildRequested") {
        if (!event.data.projections.includes(clickGroup.name)) continue;
        [previous, present] = [present, event.data.rules];
      } else if (event?.type === "ProjectionRolledBack" || event?.type === "ProjectionBuildCancelled") {
        if (event.data.projection !== clickGroup.name) continue;
        [previous, present] = [present, previous];
      } else continue;
      steps.push({ position: recorded.position, rules: present });
    }
  return (at) => steps.findLast(({ position }) => position <= at)?.rules;
}
