// An event as the feed shows it: in the form of our API, or as a CloudEvent.
import type { Actor, RecordedEvent } from "../../event-store/port.ts";
import { catalogue, type StoredEvent } from "../../events/catalogue.ts";
import { originOf } from "../../events/new-event.ts";
import { publishedData } from "../../events/published-data.ts";
import { readEvent } from "../../events/read-event.ts";
import { linkKey } from "../../events/streams.ts";
import { DomainError } from "../../runtime/errors.ts";

/** An event of a newer program: it can't be shown, and must not be passed over. */
export class EventUnknown extends DomainError {
  override readonly code = "event_unknown";
}

export type FeedForm = "plain" | "cloudevents";

/** `subject`: what it happened to, such as `link/lnk.example/k7m2pqx`. */
export type FeedEvent = {
  id: string;
  type: string;
  version: number;
  subject: string;
  at: string;
  recorded_at: string;
  position: string;
  actor: Actor;
  correlation_id: string;
  causation_id: string;
  data: Record<string, unknown>;
};

/** CloudEvents 1.0, with its extensions `sequence`, `correlationid` and `causationid` and some of our own. */
export type CloudEvent = {
  specversion: "1.0";
  id: string;
  source: string;
  type: string;
  subject: string;
  time: string;
  datacontenttype: "application/json";
  dataschema: string;
  /** The position, which sorts as text. */
  sequence: string;
  correlationid: string;
  causationid: string;
  schemaversion: number;
  recordedat: string;
  actortype: Actor["type"];
  /** Absent for the operator. */
  actorid?: string;
  data: Record<string, unknown>;
};

/** @throws EventUnknown, EventUnreadable */
export function feedEvent(recorded: RecordedEvent): FeedEvent {
  const event = knownEvent(recorded);
  const { id, type, position } = event;
  const { actor, correlationId, causationId } = originOf(event);
  return {
    id,
    type,
    version: catalogue[type].version,
    subject: subjectOf(event),
    at: event.data.at,
    recorded_at: event.recordedAt,
    position,
    actor,
    correlation_id: correlationId,
    causation_id: causationId,
    data: publishedData(event),
  };
}

/** `baseUrl`: the `source`, without a trailing slash. @throws as feedEvent does */
export function cloudEvent(recorded: RecordedEvent, baseUrl: string): CloudEvent {
  const event = feedEvent(recorded);
  const { actor } = event;
  return {
    specversion: "1.0",
    id: event.id,
    source: baseUrl,
    type: `${CLOUD_EVENT_PREFIX}${event.type}`,
    subject: event.subject,
    time: event.at,
    datacontenttype: "application/json",
    dataschema: `${baseUrl}/openapi.json#/components/schemas/${dataSchemaName(event.type)}`,
    sequence: event.position,
    correlationid: event.correlation_id,
    causationid: event.causation_id,
    schemaversion: event.version,
    recordedat: event.recorded_at,
    actortype: actor.type,
    ...("id" in actor && { actorid: actor.id }),
    data: event.data,
  };
}

export const CLOUD_EVENT_PREFIX = "linkledger.";

/** Name of the data's schema in the OpenAPI document. */
export function dataSchemaName(type: string): string {
  return `${type}Data`;
}

function knownEvent(recorded: RecordedEvent): StoredEvent {
  const event = readEvent(recorded);
  if (!event) throw new EventUnknown(`${recorded.type} at ${recorded.position} is of a newer version`);
  return event;
}

function subjectOf({ data }: StoredEvent): string {
  if ("link" in data) return `link/${data.link}`;
  if ("slug" in data) return `link/${linkKey(data.host, data.slug)}`;
  if ("hostname" in data) return `domain/${data.hostname}`;
  if ("webhookId" in data) return `webhook/${data.webhookId}`;
  if ("keyId" in data) return `key/${data.keyId}`;
  return "accountId" in data ? `account/${data.accountId}` : "log";
}
