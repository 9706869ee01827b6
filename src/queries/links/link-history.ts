// One link of an account with its history, from its own streams: strongly consistent.

import { withdrawnCount } from "../../click-log/withdrawals.ts";
import type { Actor, EventStore } from "../../event-store/port.ts";
import { streamPages } from "../../event-store/stream-pages.ts";
import type { LinkEvent, StoredEvent, WithdrawalEvent } from "../../events/catalogue.ts";
import { originOf } from "../../events/new-event.ts";
import { readEvent } from "../../events/read-event.ts";
import { linkKey, withdrawalStream } from "../../events/streams.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { NotFound } from "../errors.ts";
import { linkFromStream } from "./link-from-stream.ts";

/** `position`: of LinkCreated; no click precedes it. `history`: oldest first, withdrawals of its clicks too. */
export type LinkWithHistory = { link: LinkDocument; position: string; history: LinkStep[] };

/** `from`, `to`: for a change of destination; LinkCreated has `to` only. */
export type LinkStep = {
  type: LinkEvent["type"] | WithdrawalEvent["type"];
  at: string;
  actor: Actor;
  revision: number;
  from?: string | undefined;
  to?: string | undefined;
  /** Of ClicksWithdrawn: how many clicks went, and why. */
  withdrawn?: { clicks: number; reason: string };
};

/** Finds deleted links too, which their owner may restore. @throws NotFound also for another account's link */
export async function linkHistory(
  { eventStore }: { eventStore: EventStore },
  accountId: string,
  host: string,
  slug: string,
): Promise<LinkWithHistory> {
  let position = "";
  const events: StoredEvent[] = [];
  const key = linkKey(host, slug);
  const link = await linkFromStream(eventStore, key, (event) => {
    position ||= event.position;
    events.push(event);
  });
  if (!link || link.accountId !== accountId) throw new NotFound("Short link not found.");
  for await (const page of streamPages(eventStore, withdrawalStream(key)))
    events.push(...page.flatMap((recorded) => readEvent(recorded) ?? []));
  events.sort((a, b) => (a.position < b.position ? -1 : 1));
  return { link, position, history: events.map(stepOf) };
}

function stepOf(event: StoredEvent): LinkStep {
  const { revision, data } = event;
  const step = { type: event.type as LinkStep["type"], at: data.at, actor: originOf(event).actor, revision };
  if (event.type === "LinkCreated") return { ...step, to: event.data.longUrl };
  if (event.type === "LinkRetargeted") return { ...step, from: event.data.from, to: event.data.to };
  if (event.type === "ClicksWithdrawn")
    return { ...step, withdrawn: { clicks: withdrawnCount(event.data), reason: event.data.reason } };
  return step;
}
