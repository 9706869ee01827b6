// One link of an account with its history, from its own streams: strongly consistent.

import { Refused } from "../../commands/refusals.ts";
import type { LinkEvent, StoredEvent, WithdrawalEvent } from "../../events/catalogue.ts";
import { blockOf, type LinkBlock } from "../../events/link-events.ts";
import { metadataOf, readableEvent } from "../../events/read-event.ts";
import { linkKey, withdrawalStream } from "../../events/streams.ts";
import { withdrawnCount } from "../../events/withdrawals.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { Actor, EventStore, RecordedEvent } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import { type ChangedFields, changedFields, contentAfter, type LinkContent } from "./changed-fields.ts";
import { linkFromStream } from "./find-link.ts";

/** `Unreadable`: an event that can't be read. `from`, `to`: for a change of destination; LinkCreated has `to` only. */
export type LinkStep = {
  type: LinkEvent["type"] | WithdrawalEvent["type"] | "Unreadable";
  position: string;
  at: string;
  actor: Actor;
  /** With the time of another service, long before it was recorded: nothing but an import does that. */
  isImported: boolean;
  revision: number;
  from?: string | undefined;
  to?: string | undefined;
  /** By the names of fields in requests; empty where the type says all. */
  changes: ChangedFields;
  /** For ClicksWithdrawn: how many clicks went, and why. */
  withdrawn?: { clicks: number; reason: string };
  /** For LinkBlocked. */
  blocked?: LinkBlock;
};

/** Far beyond what lies between the time of a command and its append, and a store whose clock is wrong. */
const LONGEST_APPEND_MS = 600_000;

/**
 * Finds deleted links too, which their owner may restore. `accountId`: the required owner, if given. `history`: oldest first,
 * withdrawals of its clicks too.
 * @throws not_found also for another account's link
 */
export async function linkHistory(
  { eventStore }: { eventStore: EventStore },
  accountId: string | undefined,
  host: string,
  slug: string,
): Promise<{ link: LinkDocument; history: LinkStep[] }> {
  const key = linkKey(host, slug);
  const history: LinkStep[] = [];
  const nextStep = linkSteps();
  const add = (recorded: RecordedEvent, event: StoredEvent | undefined) => {
    history.push(nextStep(recorded, event));
  };
  const link = await linkFromStream(eventStore, key, add);
  const isTheirs = accountId === undefined || link?.accountId === accountId;
  if (!link || !isTheirs) throw new Refused("not_found", "Short link not found.");
  for await (const page of streamPages(eventStore, withdrawalStream(key)))
    for (const recorded of page) add(recorded, readableEvent(recorded));
  return { link, history: history.sort((a, b) => (a.position < b.position ? -1 : 1)) };
}

/** For the events of a link and of its withdrawals, oldest first; `event`: undefined for one that can't be read. */
export function linkSteps(): (recorded: RecordedEvent, event: StoredEvent | undefined) => LinkStep {
  let content: LinkContent = {};
  return (recorded, event) => {
    if (!event) return unreadable(recorded);
    const before = content;
    content = contentAfter(before, event);
    return stepOf(event, changedFields(before, content, event));
  };
}

function unreadable(recorded: RecordedEvent): LinkStep {
  return {
    ...originOf(recorded),
    type: "Unreadable",
    at: recorded.recordedAt,
    isImported: false,
    changes: {},
  };
}

function originOf(event: RecordedEvent | StoredEvent) {
  return { position: event.position, revision: event.revision, actor: metadataOf(event).actor };
}

function stepOf(event: StoredEvent, changes: ChangedFields): LinkStep {
  const { data } = event;
  const isImported = Date.parse(event.recordedAt) - Date.parse(data.at) > LONGEST_APPEND_MS;
  const step = { ...originOf(event), type: event.type as LinkStep["type"], at: data.at, isImported, changes };
  if (event.type === "LinkCreated") return { ...step, to: event.data.longUrl };
  if (event.type === "LinkRetargeted") return { ...step, from: event.data.from, to: event.data.to };
  if (event.type === "LinkBlocked") return { ...step, blocked: blockOf(event.data) };
  if (event.type === "ClicksWithdrawn")
    return { ...step, withdrawn: { clicks: withdrawnCount(event.data), reason: event.data.reason } };
  return step;
}
