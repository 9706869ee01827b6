// An event as the feed shows it: in the form of our API, or as a CloudEvent.

import { catalogue, publishedData, type StoredEvent } from "../../events/catalogue.ts";
import { metadataOf, readableEvent } from "../../events/read-event.ts";
import { CATEGORY, linkKey } from "../../events/streams.ts";
import { categoryOf } from "../../stores/event-store/categories.ts";
import type { RecordedEvent } from "../../stores/event-store/port.ts";

/** `recorded`: as it is in the log, for who makes something else of it before it leaves the service. */
export type FeedForm = "plain" | "cloudevents" | "recorded";

/** Says nothing of the content, which may be another account's. */
const UNREADABLE = "The event can't be read: the operator of the service finds it by its position";

/**
 * In the form of our API (api/events/event-schemas.ts). `subject`: what it happened to, such as `link/lnk.example/k7m2pqx`.
 * An event that can't be read has the type `Unreadable`, an `error` and no data. @throws EventNewer
 */
export function feedEvent(recorded: RecordedEvent) {
  const event = readableEvent(recorded);
  const { id, type, position, recordedAt } = recorded;
  const metadata = metadataOf(recorded);
  return {
    id,
    type: event ? type : UNREADABLE_TYPE,
    ...(!event && { stored_type: type }),
    version: event ? catalogue[event.type].version : metadata.schemaVersion,
    subject: event ? subjectOf(event) : subjectOfStream(recorded.stream),
    at: event ? event.data.at : recordedAt,
    recorded_at: recordedAt,
    position,
    actor: metadata.actor,
    correlation_id: metadata.correlationId,
    causation_id: metadata.causationId,
    data: event && publishedData(event),
    ...(!event && { error: UNREADABLE }),
  };
}

/**
 * CloudEvents 1.0, with its extensions `sequence` (the position), `correlationid` and `causationid` and some of our own.
 * `baseUrl`: the `source`, without a trailing slash. @throws EventNewer
 */
export function cloudEvent(recorded: RecordedEvent, baseUrl: string) {
  const event = feedEvent(recorded);
  const { actor } = event;
  return {
    specversion: "1.0",
    id: event.id,
    source: baseUrl,
    type: `${CLOUD_EVENT_PREFIX}${recorded.type || "Unknown"}`,
    subject: event.subject,
    time: event.at,
    datacontenttype: "application/json",
    ...(event.data && {
      dataschema: `${baseUrl}/openapi.json#/components/schemas/${dataSchemaName(event.type)}`,
    }),
    sequence: event.position,
    correlationid: event.correlation_id,
    causationid: event.causation_id,
    schemaversion: event.version,
    recordedat: event.recorded_at,
    actortype: actor.type,
    ...("id" in actor && { actorid: actor.id }),
    data: event.data ?? null,
    ...("error" in event && { error: event.error }),
  };
}

export const UNREADABLE_TYPE = "Unreadable";
export const CLOUD_EVENT_PREFIX = "linkledger.";

/** Name of the data's schema in the OpenAPI document. */
export function dataSchemaName(type: string): string {
  return `${type}Data`;
}

function subjectOfStream(stream: string): string {
  const category = categoryOf(stream);
  const name = stream.slice(category.length + 1);
  if (category === CATEGORY.withdrawals) return `link/${name}`;
  const { account, domain, link } = CATEGORY;
  return [account, domain, link].some((owned) => owned === category) ? `${category}/${name}` : "log";
}

function subjectOf({ data }: StoredEvent): string {
  if ("link" in data) return `link/${data.link}`;
  if ("slug" in data) return `link/${linkKey(data.host, data.slug)}`;
  if ("hostname" in data) return `domain/${data.hostname}`;
  if ("webhookId" in data) return `webhook/${data.webhookId}`;
  if ("keyId" in data) return `key/${data.keyId}`;
  return "accountId" in data ? `account/${data.accountId}` : "log";
}
