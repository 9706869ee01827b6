// One link of an account with its history, from its own streams: strongly consistent.
import { withdrawnCount } from "../../click-log/withdrawals.ts";
import type { Actor, EventStore, RecordedEvent } from "../../event-store/port.ts";
import { streamPages } from "../../event-store/stream-pages.ts";
import type { LinkEvent, StoredEvent, WithdrawalEvent } from "../../events/catalogue.ts";
import { blockOf, type LinkBlock } from "../../events/link-events.ts";
import {
  type LinkOptions,
  type OptionChanges,
  type OptionName,
  optionsOf,
  withOptions,
} from "../../events/link-options.ts";
import { metadataOf, readableEvent } from "../../events/read-event.ts";
import { linkKey, withdrawalStream } from "../../events/streams.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { Refused } from "../../runtime/refused.ts";
import { linkFromStream } from "./find-link.ts";

/** `Unreadable`: an event that can't be read. `from`, `to`: for a change of destination; LinkCreated has `to` only. */
export type LinkStep = {
  type: LinkEvent["type"] | WithdrawalEvent["type"] | "Unreadable";
  position: string;
  at: string;
  actor: Actor;
  revision: number;
  from?: string | undefined;
  to?: string | undefined;
  /** Of LinkOptionsChanged, and of a LinkCreated with options: the options that changed, null for one that was not or is not set. */
  changes?: Readonly<Record<"from" | "to", OptionChanges>>;
  /** Of ClicksWithdrawn: how many clicks went, and why. */
  withdrawn?: { clicks: number; reason: string };
  /** Of LinkBlocked. */
  blocked?: LinkBlock;
};

/**
 * Finds deleted links too, which their owner may restore. `accountId`: the required owner, if given. `position`: of
 * LinkCreated; no click precedes it. `history`: oldest first, withdrawals of its clicks too.
 * @throws not_found also for another account's link
 */
export async function linkHistory(
  { eventStore }: { eventStore: EventStore },
  accountId: string | undefined,
  host: string,
  slug: string,
): Promise<{ link: LinkDocument; position: string; history: LinkStep[] }> {
  const key = linkKey(host, slug);
  const history: LinkStep[] = [];
  let options: LinkOptions = {};
  const add = (recorded: RecordedEvent, event: StoredEvent | undefined) => {
    if (!event) return void history.push(unreadable(recorded));
    const changes = changesBy(event, options);
    options = withOptions(options, changes?.to ?? {});
    history.push({ ...stepOf(event), ...(changes && { changes }) });
  };
  const link = await linkFromStream(eventStore, key, add);
  const isTheirs = accountId === undefined || link?.accountId === accountId;
  if (!link || !isTheirs) throw new Refused("not_found", "Short link not found.");
  const position = history[0]?.position ?? "";
  for await (const page of streamPages(eventStore, withdrawalStream(key)))
    for (const recorded of page) add(recorded, readableEvent(recorded));
  return { link, position, history: history.sort((a, b) => (a.position < b.position ? -1 : 1)) };
}

function unreadable(recorded: RecordedEvent): LinkStep {
  return { ...originOf(recorded), type: "Unreadable", at: recorded.recordedAt };
}

function originOf(event: RecordedEvent | StoredEvent) {
  return { position: event.position, revision: event.revision, actor: metadataOf(event).actor };
}

/** `before`: the options of the link that the event changes. */
function changesBy(event: StoredEvent, before: LinkOptions): LinkStep["changes"] {
  if (event.type !== "LinkCreated" && event.type !== "LinkOptionsChanged") return undefined;
  const to: OptionChanges = event.type === "LinkCreated" ? optionsOf(event.data) : event.data.changes;
  const names = Object.keys(to) as OptionName[];
  if (names.length === 0) return undefined;
  return { from: Object.fromEntries(names.map((name) => [name, before[name] ?? null])), to };
}

function stepOf(event: StoredEvent): LinkStep {
  const { data } = event;
  const step = { ...originOf(event), type: event.type as LinkStep["type"], at: data.at };
  if (event.type === "LinkCreated") return { ...step, to: event.data.longUrl };
  if (event.type === "LinkRetargeted") return { ...step, from: event.data.from, to: event.data.to };
  if (event.type === "LinkBlocked") return { ...step, blocked: blockOf(event.data) };
  if (event.type === "ClicksWithdrawn")
    return { ...step, withdrawn: { clicks: withdrawnCount(event.data), reason: event.data.reason } };
  return step;
}
