// What a webhook is told of: kinds of event, kinds of click, and of which links.
import type { ClickKind, CreatedVia } from "./vocabulary.ts";

/** `link.clicked` is the interface's (part 6), and what a webhook gets unless it chooses otherwise. */
export const WEBHOOK_EVENTS = [
  "link.clicked",
  "link.created",
  "link.updated",
  "link.deleted",
  "link.expired",
  "link.limit_reached",
] as const;
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

export const LINK_CLICKED = "link.clicked" satisfies WebhookEventName;

const VIA_API = "api" satisfies CreatedVia;

/** `via`: how links were created, by default through the API (interface, part 6); `domains`: hosts of links; `tags`: one of which a link has; both empty for all links. */
export type WebhookSelection = {
  events: readonly WebhookEventName[];
  kinds: readonly ClickKind[];
  via: readonly CreatedVia[];
  domains: readonly string[];
  tags: readonly string[];
};

/** As events hold it: without what is not chosen. */
export type ChosenSelection = Pick<WebhookSelection, "kinds"> & {
  [M in "events" | "via" | "domains" | "tags"]?: WebhookSelection[M] | undefined;
};

export function selectionOf({ events, kinds, via, domains, tags }: ChosenSelection): WebhookSelection {
  return {
    events: events ?? [LINK_CLICKED],
    kinds,
    via: via ?? [VIA_API],
    domains: domains ?? [],
    tags: tags ?? [],
  };
}

/** For an event: equal selections are equal data. */
export function chosenOf({ events, kinds, via, domains, tags }: WebhookSelection) {
  return {
    kinds: [...kinds],
    ...(events.join() !== LINK_CLICKED && { events: [...events] }),
    ...(via.join() !== VIA_API && { via: [...via] }),
    ...(domains.length > 0 && { domains: [...domains] }),
    ...(tags.length > 0 && { tags: [...tags] }),
  };
}
