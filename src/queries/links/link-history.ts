// One link of an account with its history, from its own streams: strongly consistent.
import { withdrawnCount } from "../../click-log/withdrawals.ts";
import type { Actor, EventStore, RecordedEvent } from "../../event-store/port.ts";
import { streamPages } from "../../event-store/stream-pages.ts";
import type { LinkEvent, StoredEvent, WithdrawalEvent } from "../../events/catalogue.ts";
import { blockOf, type LinkBlock } from "../../events/link-events.ts";
import { metadataOf, readableEvent } from "../../events/read-event.ts";
import { linkKey, withdrawalStream } from "../../events/streams.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { Refused } from "../../runtime/refused.ts";
import { linkFromStream } from "./link-from-stream.ts";

/** `position`: of LinkCreated; no click precedes it. `history`: oldest first, withdrawals of its clicks too. */
export type LinkWithHistory = { link: LinkDocument; position: string; history: LinkStep[] };

/** `Unreadable`: an event that can't be read. `from`, `to`: for a change of destination; LinkCreated has `to` only. */
export type LinkStep = {
  type: LinkEvent["type"] | WithdrawalEvent["type"] | "Unreadable";
  at: string;
  actor: Actor;
  revision: number;
  from?: string | undefined;
  to?: string | undefined;
  /** Of ClicksWithdrawn: how many clicks went, and why. */
  withdrawn?: { clicks: number; reason: string };
  /** Of LinkBlocked. */
  blocked?: LinkBlock;
};

type Deps = { eventStore: EventStore };

/** Finds deleted links too, which their owner may restore. @throws not_found also for another account's link */
export async function linkHistory(
  deps: Deps,
  accountId: string,
  host: string,
  slug: string,
): Promise<LinkWithHistory> {
  const found = await anyLinkHistory(deps, host, slug);
  if (found.link.accountId !== accountId) throw notFound();
  return found;
}

/** For the operator: whoever owns the link. @throws not_found */
export async function anyLinkHistory(
  { eventStore }: Deps,
  host: string,
  slug: string,
): Promise<LinkWithHistory> {
  let position = "";
  const steps: { position: string; step: LinkStep }[] = [];
  const key = linkKey(host, slug);
  const onEvent = (event: StoredEvent) => void steps.push({ position: event.position, step: stepOf(event) });
  const onUnreadable = (recorded: RecordedEvent) =>
    void steps.push({ position: recorded.position, step: unreadableStep(recorded) });
  const link = await linkFromStream(eventStore, key, {
    onEvent(event) {
      position ||= event.position;
      onEvent(event);
    },
    onUnreadable,
  });
  if (!link) throw notFound();
  for await (const page of streamPages(eventStore, withdrawalStream(key)))
    for (const recorded of page) {
      const event = readableEvent(recorded, onUnreadable);
      if (event) onEvent(event);
    }
  steps.sort((a, b) => (a.position < b.position ? -1 : 1));
  return { link, position, history: steps.map(({ step }) => step) };
}

function notFound(): Refused {
  return new Refused("not_found", "Short link not found.");
}

function unreadableStep(recorded: RecordedEvent): LinkStep {
  const { revision, recordedAt: at } = recorded;
  return { type: "Unreadable", at, actor: metadataOf(recorded).actor, revision };
}

function stepOf(event: StoredEvent): LinkStep {
  const { revision, data } = event;
  const step = {
    type: event.type as LinkStep["type"],
    at: data.at,
    actor: metadataOf(event).actor,
    revision,
  };
  if (event.type === "LinkCreated") return { ...step, to: event.data.longUrl };
  if (event.type === "LinkRetargeted") return { ...step, from: event.data.from, to: event.data.to };
  if (event.type === "LinkBlocked") return { ...step, blocked: blockOf(event.data) };
  if (event.type === "ClicksWithdrawn")
    return { ...step, withdrawn: { clicks: withdrawnCount(event.data), reason: event.data.reason } };
  return step;
}
