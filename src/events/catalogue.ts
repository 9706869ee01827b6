// Every event type with its schema, version and upcasters; unknown keys are refused when writing, dropped when reading.
import { z } from "zod";
import type { EventMetadata, RecordedEvent } from "../stores/event-store/port.ts";
import { accountEvents, domainEvents, personEvents, webhookEvents } from "./accounts/account-events.ts";
import { sharingEvents } from "./accounts/sharing-events.ts";
import { clickEvents, gapEvents } from "./click-events.ts";
import type { CatalogueEntry } from "./definition.ts";
import { linkEvents, withdrawalEvents } from "./link-events.ts";
import { logEvents, sealEvents } from "./log-events.ts";
import { operatorEvents } from "./operator-events.ts";

export const catalogue = {
  ...accountEvents,
  ...webhookEvents,
  ...sharingEvents,
  ...domainEvents,
  ...linkEvents,
  ...clickEvents,
  ...withdrawalEvents,
  ...gapEvents,
  ...sealEvents,
  ...operatorEvents,
  ...personEvents,
  ...logEvents,
} as const;

export type EventType = keyof typeof catalogue;

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(catalogue, type);
}

/** An event of the type, as deciders return it, without an id. */
export type EventOf<T extends EventType> = {
  [K in T]: { type: K; data: z.infer<(typeof catalogue)[K]["schema"]> };
}[T];

/** Of `account-<uuid>`. */
export type AccountEvent = EventOf<
  keyof typeof accountEvents | keyof typeof webhookEvents | keyof typeof sharingEvents
>;
export type DomainEvent = EventOf<keyof typeof domainEvents>;
export type LinkEvent = EventOf<keyof typeof linkEvents>;
export type LinkClicked = EventOf<"LinkClicked">;
/** Of `withdrawals-<host>/<slug>`. */
export type WithdrawalEvent = EventOf<keyof typeof withdrawalEvents>;
export type LogSealed = EventOf<"LogSealed">;
export type LogBegun = EventOf<"LogBegun">;
/** Of `operator-<yyyymm>`. */
export type OperatorEvent = EventOf<keyof typeof operatorEvents>;
/** Of `person-<uuid>`. */
export type PersonEvent = EventOf<keyof typeof personEvents>;
export type LinkledgerEvent = EventOf<EventType>;

/** An event read from the store, upcast and validated, as deciders and projections fold it. */
export type StoredEvent = LinkledgerEvent &
  Pick<RecordedEvent, "id" | "stream" | "revision" | "position" | "recordedAt"> & { metadata: EventMetadata };

const OF_NO_ACCOUNT = { ...sealEvents, ...gapEvents, ...operatorEvents, ...personEvents, ...logEvents };

/** Types of events of accounts, of which their feeds tell. */
export const EVENT_TYPES = (Object.keys(catalogue) as EventType[]).filter((type) => !(type in OF_NO_ACCOUNT));

/** What of an event's data leaves the service, in the event feed: all fields but the internal ones. */
export function publishedData({ type, data }: LinkledgerEvent): Record<string, unknown> {
  return published(type, data as Record<string, unknown>);
}

/** The schema of `publishedData` for events of the type. */
export function publishedSchema(type: EventType): z.ZodObject {
  return z.object(published<z.ZodType>(type, catalogue[type].schema.shape));
}

function published<T>(type: EventType, fields: Readonly<Record<string, T>>): Record<string, T> {
  const { internal }: CatalogueEntry = catalogue[type];
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !internal.includes(name)));
}
