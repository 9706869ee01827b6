// Builds the body of a delivery about a link's life: the link as the API answers it, and what changed.
import { evolve, freeLink, type LinkState } from "../../commands/links/link.ts";
import type { LinkEvent } from "../../events/catalogue.ts";
import { linkStatus, statusFacts } from "../../events/links/link-status.ts";
import { readEvent } from "../../events/read-event.ts";
import type { WebhookEventName } from "../../events/webhook-selection.ts";
import { linkDetailsObject } from "../../queries/links/link-object.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";

/** A link before and after one of its events. */
export type LinkTransition = { before: LinkState; after: LinkState };

/** What says when it changed, and not how. */
const WITHOUT: ReadonlySet<string> = new Set(["revision", "updated_at"]);

/** By the events of its stream up to `revision`. @throws what the store throws; EventUnreadable, EventNewer */
export async function linkStepAt(
  eventStore: Pick<EventStore, "read">,
  stream: string,
  revision: number,
): Promise<LinkTransition> {
  let step: LinkTransition = { before: freeLink, after: freeLink };
  for await (const page of streamPages(eventStore, stream))
    for (const recorded of page) {
      if (recorded.revision > revision) return step;
      const event = readEvent(recorded) as LinkEvent;
      step = { before: step.after, after: evolve(step.after, event) };
    }
  return step;
}

/**
 * `at`: when it happened, and what the status is as of, on a domain that is active; before any click, or in
 * link.limit_reached when they are used up. `changes`, by the names of the link's members, only in link.updated; null for an
 * absent value.
 */
export function linkPayload(
  name: WebhookEventName,
  at: string,
  { before, after }: LinkTransition,
  baseUrl: string,
): string {
  const moment = {
    now: Date.parse(at),
    people: name === "link.limit_reached" ? Number.POSITIVE_INFINITY : 0,
    isServed: true,
  };
  const link = shown(after, moment, baseUrl);
  const data = { link_id: link.slug, ...link };
  const changes = name === "link.updated" && { changes: changesOf(shown(before, moment, baseUrl), link) };
  return JSON.stringify({ event: name, timestamp: at, data: { ...data, ...changes } });
}

function shown(
  link: LinkState,
  moment: Parameters<typeof linkStatus>[1],
  baseUrl: string,
): Record<string, unknown> {
  if (link.status === "free") return {};
  return linkDetailsObject(link, linkStatus(statusFacts(link), moment), baseUrl);
}

function changesOf(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, { from: unknown; to: unknown }> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]).difference(WITHOUT);
  const changed = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(
    changed.map((name) => [name, { from: before[name] ?? null, to: after[name] ?? null }]),
  );
}
